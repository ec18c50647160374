//! Values that only host code has.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::origin::FileId;
use crate::specialization::LaunchFacts;
use crate::value::{Function, Partial, Value};
use base::condition::Order;
use base::ways::Ways;
use base::{Operation, TextRange};
use torch::{Memory, Torch};

/// Options of a command line with their values: of a parser, and of what it has parsed.
pub(super) type Options<'a> = RefCell<Vec<(Rc<str>, Value<'a>)>>;

/// A value that only host code has.
// It always stands behind a pointer.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Thing<'a> {
    /// A tensor in memory.
    Tensor(Torch),
    /// A tensor descriptor; hooks of configurations change its block shape.
    Descriptor(RefCell<HostDescriptor<'a>>),
    /// A kernel behind `autotune` or `heuristics`, or with its grid.
    Launcher(Launcher<'a>),
    /// `triton.autotune(…)` and `triton.heuristics(…)` before they are given the kernel.
    Tuner(Tuner<'a>),
    /// `triton.Config`.
    Config(AutotuneConfig<'a>),
    /// A tensor of which less than all is known.
    OpenTensor(OpenTensor<'a>),
    /// The sizes or strides of a tensor of which not even the number of dimensions is known.
    OpenSizes(Rc<Dims<'a>>),
    /// A number that is not known.
    OpenNumber(OpenNumber, NumberOrigin<'a>),
    /// The options of a command line.
    Options(Options<'a>),
    /// `pytest.param(…)`: its values.
    Param(Vec<Value<'a>>),
    /// A fixture's `request`, by its parameter.
    Request(Value<'a>),
    /// An argument of a launch that is not known, with the condition that it would be.
    Asked(Value<'a>, u64),
    /// Of what is not known, whether it holds.
    Truth(bool),
    /// The outcome of something that is of no interest, by its name.
    Any(Rc<str>),
}

/// Launches that were recorded while host code ran.
#[derive(Debug, Default)]
pub struct Session<'a> {
    /// In the order in which they were made.
    pub launches: Vec<HostLaunch<'a>>,
    /// Which ways are taken where a condition is not known; none where both ways are followed at once.
    pub ways: Option<Ways>,
    /// Whether sizes that are not known are assumed.
    pub assume: bool,
    /// Whether any was.
    pub assumed: bool,
    /// Whether a number of which a condition says but a bound was chosen.
    pub chosen: bool,
    /// Comparisons that were taken to hold so far.
    pub(super) conditions: Vec<TakenCondition<'a>>,
}

/// A comparison that is taken to hold.
#[derive(Clone, Debug)]
pub(super) struct TakenCondition<'a> {
    /// The text of which one way is taken, by a number.
    pub(super) text: u64,
    /// It; none where the text stood for several.
    pub(super) value: Value<'a>,
}

/// What a kernel is launched with.
#[derive(Clone, Debug)]
pub struct HostLaunch<'a> {
    /// The kernel.
    pub function: Rc<Function<'a>>,
    /// By parameter; those that were left out are not there.
    pub arguments: Vec<(Rc<str>, Value<'a>)>,
    /// Warps of a program, where it says so.
    pub num_warps: Option<u32>,
    /// CTAs of a cluster, where it says so.
    pub num_ctas: Option<u32>,
    /// Programs along x, y and z, where that is known.
    pub grid: Option<[u32; 3]>,
    /// What is known of it beside what shapes the kernel.
    pub facts: LaunchFacts,
    /// The file in which it is made.
    pub file: FileId,
    /// The call, in that file's source.
    pub at: TextRange,
    /// Whether it rests on a number that was chosen.
    pub chosen: bool,
    /// Parameters that a configuration gives a value with which the kernel may not be launched.
    pub unsure: Vec<Rc<str>>,
    /// Whether it is one of several configurations that are tried.
    pub tuned: bool,
}

/// A kernel with what stands between it and its launch.
#[derive(Clone, Debug)]
pub struct Launcher<'a> {
    /// The kernel, or another launcher around it.
    pub function: Value<'a>,
    /// Configurations of `autotune`.
    pub configs: Vec<Value<'a>>,
    /// `prune_configs_by`'s function.
    pub prune: Option<Value<'a>>,
    /// Parameters with the functions that `heuristics` computes them by.
    pub heuristics: Vec<(Rc<str>, Value<'a>)>,
    /// Whether it has its grid, so that a call launches it.
    pub grid: bool,
    /// The grid: numbers, or a function of the arguments; `None` of a launch without one.
    pub programs: Value<'a>,
}

/// `autotune(…)` or `heuristics(…)`.
#[derive(Clone, Debug, Default)]
pub struct Tuner<'a> {
    /// Configurations of `autotune`.
    pub configs: Vec<Value<'a>>,
    /// `prune_configs_by`'s function.
    pub prune: Option<Value<'a>>,
    /// Parameters with the functions that `heuristics` computes them by.
    pub heuristics: Vec<(Rc<str>, Value<'a>)>,
}

/// A configuration of `autotune`.
#[derive(Clone, Debug)]
pub struct AutotuneConfig<'a> {
    /// Parameters of the kernel with their values, in a dictionary.
    pub kwargs: Rc<RefCell<Vec<(Value<'a>, Value<'a>)>>>,
    /// Warps of a program, where it says so.
    pub num_warps: Option<u32>,
    /// CTAs of a cluster, where it says so.
    pub num_ctas: Option<u32>,
    /// What is called before the launch.
    pub pre_hook: Value<'a>,
}

/// `TensorDescriptor`, `TensorDescriptorIm2Col`.
#[derive(Clone, Debug)]
pub struct HostDescriptor<'a> {
    /// Whether it is one for im2col.
    pub im2col: bool,
    /// The tensor that it is of, where that is known.
    pub base: Option<Torch>,
    /// Torch's name of the element type, where that is known.
    pub element: Option<Rc<str>>,
    /// Where the tensor lies, where no more than that is known of it.
    pub memory: Option<Memory>,
    /// Sizes of the tensor.
    pub shape: Value<'a>,
    /// Elements between neighbours.
    pub strides: Value<'a>,
    /// Sizes of a block.
    pub block_shape: Value<'a>,
    /// How a block lies in shared memory.
    pub layout: Value<'a>,
    /// What stands for elements outside of the tensor.
    pub padding: Value<'a>,
}

/// A tensor of which less than all is known.
#[derive(Clone, Debug)]
pub struct OpenTensor<'a> {
    /// Where it lies.
    pub memory: Memory,
    /// By torch's name.
    pub dtype: Option<Rc<str>>,
    /// Sizes, outermost first, each a number that may be open; `None` where not even their count is known.
    pub shape: Option<Rc<[Value<'a>]>>,
    /// Elements between neighbours, where the host code itself says how it lies.
    pub strides: Option<Rc<[Value<'a>]>>,
    /// Sizes that were asked for where `shape` says nothing.
    pub dims: Rc<Dims<'a>>,
    /// Likewise elements between neighbours, where `strides` says nothing.
    pub steps: Rc<Dims<'a>>,
    /// Whether it counts as lying densely, so that `contiguous` makes no copy of it.
    pub whole: bool,
    /// The part that it is of another one, where it is one.
    pub(super) cut: Option<Rc<Cut<'a>>>,
}

/// What an index takes of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Cut<'a> {
    /// The tensor that it is taken of.
    pub(super) of: Rc<Dims<'a>>,
    /// By dimension, from 0 or from the end.
    pub(super) along: Vec<(i64, Along<'a>)>,
}

/// What it takes along a dimension.
#[derive(Clone, Debug)]
pub(super) enum Along<'a> {
    One(Value<'a>),
    /// From one place to before another one; the ends where there is none.
    Range(Option<Value<'a>>, Option<Value<'a>>),
}

/// What is known of a number that is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenNumber {
    /// An integer.
    Int,
    /// A float.
    Float,
    /// A truth value.
    Bool,
}

/// Where a number that is not known comes from.
#[derive(Clone, Debug)]
pub enum NumberOrigin<'a> {
    /// Nothing is known of it.
    Loose,
    /// A size of a tensor, or an argument: any number, whatever the others of its group are.
    Free {
        /// What it is a size of.
        group: Rc<()>,
        /// How often the host compares it with another one, so that there are numbers which it does not launch with.
        compared: Cell<u32>,
        /// What the host says that it is a multiple of.
        multiple: Cell<i64>,
        /// The number that it is said to be equal to.
        equal: RefCell<Option<Rc<Thing<'a>>>>,
    },
    /// It is computed from two others.
    Made(Operation, Rc<(Value<'a>, Value<'a>)>),
    /// A float: what one integer is divided by another one.
    Ratio(Rc<(Value<'a>, Value<'a>)>),
    /// What is between neighbours of a tensor of these sizes along this dimension, however it lies.
    Stride(Rc<Dims<'a>>, i64),
    /// How many elements a tensor of these sizes has.
    Count(Rc<Dims<'a>>),
    /// How many dimensions it has.
    Rank(Rc<Dims<'a>>),
    /// A truth value: how two integers compare.
    Compared(Order, Rc<(Value<'a>, Value<'a>)>),
}

/// The sizes of a tensor of which not even the number of dimensions is known, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Dims<'a> {
    /// What they are sizes of; `None` of strides, and of a part of the sizes, which hang together with others.
    pub(super) group: Option<Rc<()>>,
    /// Of strides: the sizes of their tensor, where they have its order.
    pub(super) strides_of: Option<Rc<Dims<'a>>>,
    /// How many dimensions there are at least, by those that were asked for from 0 on.
    pub(super) least: Cell<i64>,
    /// How many elements lie behind those dimensions, where there may be others.
    pub(super) rest: RefCell<Option<Value<'a>>>,
    /// Each dimension, from 0 or from the end, with its size.
    pub(super) asked: RefCell<Vec<(i64, Value<'a>)>>,
    pub(super) rank: Cell<Option<i64>>,
}

/// A value of which nothing is known but that it does no harm.
pub(super) fn any<'a>(name: impl Into<Rc<str>>) -> Value<'a> {
    Value::Host(Rc::new(Thing::Any(name.into())))
}

/// What is in a tensor, or follows from it.
pub(super) fn content<'a>(name: &str) -> Value<'a> {
    Value::Unknown(format!("`{name}` depends on the content of a tensor").into())
}

pub(super) fn tensor<'a>(tensor: Torch) -> Value<'a> {
    Value::Host(Rc::new(Thing::Tensor(tensor)))
}

/// A function of a library with its first arguments.
pub(super) fn method<'a>(path: impl Into<Rc<str>>, receiver: Value<'a>) -> Value<'a> {
    Value::Partial(Rc::new(Partial { function: Value::Lib(path.into()), args: vec![receiver], named: Vec::new() }))
}

/// Whether all that may become known of an argument is whether it holds.
pub(crate) fn may_be_asked(value: &Value<'_>) -> bool {
    match value {
        Value::Unknown(_) => true,
        Value::Host(thing) => matches!(**thing, Thing::Any(_) | Thing::OpenNumber(OpenNumber::Bool, _)),
        _ => false,
    }
}

/// An argument of which a condition may tell something.
pub(crate) fn asked(value: Value<'_>, condition: u64) -> Value<'_> {
    Value::Host(Rc::new(Thing::Asked(value, condition)))
}
