//! What a Python expression is worth while a kernel is elaborated.
//!
//! Host values (numbers, strings, lists, functions, classes) are what Triton calls constexprs; the others
//! are computed by the kernel and stand for SSA values of the IR, tensors in registers too. One without an SSA value
//! is opaque: it has a shape and a type, and no content.

pub use ttgir::build::DType;

use std::cell::RefCell;
use std::rc::Rc;

use crate::emit::Ssa;
use crate::host::thing::Thing;
use crate::library::{LibClass, Row};
use crate::scope::Scope;
use base::TextRange;
use ruff_python_ast::{ExprLambda, Parameters, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

/// A value. Cheap to copy.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `None`.
    None,
    /// `...`.
    Ellipsis,
    /// `True` or `False`.
    Bool(bool),
    /// An integer; one that does not fit is not followed.
    Int(i128),
    /// A number.
    Float(f64),
    /// A text.
    Str(Rc<str>),
    /// A tuple.
    Tuple(Rc<[Value<'a>]>),
    /// A list, shared by all that hold it.
    List(Rc<RefCell<Vec<Value<'a>>>>),
    /// A dictionary: entries in the order of insertion.
    Dict(Rc<RefCell<Vec<(Value<'a>, Value<'a>)>>>),
    /// A set: members in the order of insertion.
    Set(Rc<RefCell<Vec<Value<'a>>>>),
    /// `start:stop:step`.
    Slice(Rc<[Value<'a>; 3]>),
    /// A `range` (or `static_range`) that was not run yet.
    Range(Rc<Range<'a>>),
    /// A function of a Python file.
    Function(Rc<Function<'a>>),
    /// A method with its receiver.
    Bound(Rc<(Value<'a>, Value<'a>)>),
    /// `functools.partial`.
    Partial(Rc<Partial<'a>>),
    /// A class of a Python file.
    Class(Rc<Class<'a>>),
    /// An object of such a class.
    Instance(Rc<ClassInstance<'a>>),
    /// A Python file.
    Module(Rc<Scope<'a>>),
    /// A module, function or constant of a library, by its full name (`torch.float16`), that no table
    /// knows more of.
    Lib(Rc<str>),
    /// A function of Gluon or of Python itself.
    Builtin(&'static Row),
    /// A class of a library's own (layouts, `TensorDescriptor`).
    LibClass(&'static LibClass),
    /// An object of such a class.
    Object(Rc<Object<'a>>),
    /// An element type.
    DType(DType),
    /// `gl.tensor`-like annotation types and others that are only compared.
    Type(Rc<str>),
    /// A scalar (no shape) or a register tensor that the kernel computes.
    Tensor(Tensor<'a>),
    /// A shared or tensor memory descriptor.
    MemDesc(Rc<MemDesc<'a>>),
    /// A TMA or TDM descriptor.
    TensorDesc(Rc<TensorDesc<'a>>),
    /// What only host code has: tensors of torch, launches.
    Host(Rc<Thing<'a>>),
    /// Something that could not be followed, and why. What it flows into is not followed either.
    Unknown(Rc<str>),
}

impl Value<'_> {
    /// The class by which methods and attributes of a value are looked up in the table.
    pub fn class_name(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Ellipsis => "ellipsis",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Tuple(_) => "tuple",
            Value::List(_) => "list",
            Value::Dict(_) => "dict",
            Value::Set(_) => "set",
            Value::Slice(_) => "slice",
            Value::Range(_) => "range",
            Value::Function(_) | Value::Builtin(_) | Value::Partial(_) => "function",
            Value::Bound(_) => "method",
            Value::Class(_) | Value::LibClass(_) => "type",
            Value::Instance(_) => "object",
            Value::Module(_) | Value::Lib(_) => "module",
            Value::Object(object) => object.class.path,
            Value::DType(_) => "dtype",
            Value::Type(_) => "annotation",
            Value::Tensor(_) => "tensor",
            Value::MemDesc(memory) => match memory.space {
                DescSpace::Shared => "shared_memory_descriptor",
                DescSpace::Tensor => "tensor_memory_descriptor",
            },
            Value::TensorDesc(_) => "tensor_descriptor",
            Value::Host(_) => "host value",
            Value::Unknown(_) => "unknown",
        }
    }
}

/// `range(start, stop, step)`; the bounds are host integers or scalars of the kernel.
#[derive(Clone, Debug)]
pub struct Range<'a> {
    /// The first value.
    pub start: Value<'a>,
    /// The first value that it does not reach.
    pub stop: Value<'a>,
    /// What is added each time; not 0.
    pub step: Value<'a>,
    /// Whether the kernel's text repeats the body (`static_range`).
    pub unrolled: bool,
}

/// How a Python function runs when it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FnKind {
    /// `@gluon.jit`, `@triton.jit`: in the kernel.
    Jit,
    /// `@gluon.constexpr_function`: by Python, on constexprs.
    Constexpr,
    /// By Python.
    Host,
}

/// The text of a function.
#[derive(Clone, Copy, Debug)]
pub enum FunctionNode<'a> {
    /// `def f(…): …`.
    Def(&'a StmtFunctionDef),
    /// `lambda …: …`.
    Lambda(&'a ExprLambda),
}

impl<'a> Value<'a> {
    /// The number that a member of an enumeration of integers is, which it is used as.
    pub fn member_number(&self) -> Option<Value<'a>> {
        if let Value::Instance(instance) = self { instance.number() } else { None }
    }
}

impl<'a> FunctionNode<'a> {
    /// Its name.
    pub fn name(self) -> &'a str {
        match self {
            FunctionNode::Def(def) => def.name.as_str(),
            FunctionNode::Lambda(_) => "<lambda>",
        }
    }

    /// Its parameters.
    pub fn parameters(self) -> Option<&'a Parameters> {
        match self {
            FunctionNode::Def(def) => Some(&def.parameters),
            FunctionNode::Lambda(lambda) => lambda.parameters.as_deref(),
        }
    }

    /// The whole statement or expression, decorators included.
    pub fn range(self) -> TextRange {
        let range = match self {
            FunctionNode::Def(def) => def.range(),
            FunctionNode::Lambda(lambda) => lambda.range(),
        };
        TextRange::new(range.start().to_u32(), range.end().to_u32())
    }
}

/// A function of a Python file.
#[derive(Debug)]
pub struct Function<'a> {
    /// Its text.
    pub def: FunctionNode<'a>,
    /// Who runs it: the kernel, or Python.
    pub kind: FnKind,
    /// The scope that its body's free names are looked up in.
    pub scope: Rc<Scope<'a>>,
    /// A default a parameter, in the order of all parameters; evaluated when the function was defined.
    pub defaults: Vec<Option<Value<'a>>>,
    /// Whether it is a `@staticmethod` / `@classmethod` / `@property`.
    pub role: Role,
}

/// How a function of a class is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A function, or a method that is given its object.
    Plain,
    /// `@staticmethod`.
    Static,
    /// `@classmethod`.
    ClassMethod,
    /// `@property`.
    Property,
}

/// `functools.partial(function, *args, **kwargs)`.
#[derive(Debug)]
pub struct Partial<'a> {
    /// What is called.
    pub function: Value<'a>,
    /// Its first arguments by position.
    pub args: Vec<Value<'a>>,
    /// Arguments by name.
    pub named: Vec<(Rc<str>, Value<'a>)>,
}

/// A class of a Python file.
#[derive(Debug)]
pub struct Class<'a> {
    /// Its text.
    pub def: &'a StmtClassDef,
    /// The classes that it extends, as they are written.
    pub bases: Vec<Value<'a>>,
    /// Methods and class attributes.
    pub scope: Rc<Scope<'a>>,
    /// Annotated fields in order, with their annotations.
    pub fields: Vec<(Rc<str>, Value<'a>)>,
    /// How its objects are made and compared.
    pub kind: ClassKind,
}

/// How objects of a class are made and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    /// `@gluon.aggregate` / `@triton.language.core._aggregate`.
    Aggregate,
    /// `@dataclass`.
    Dataclass,
    /// `NamedTuple` and the like.
    NamedTuple,
    /// `Enum`.
    Enum,
    /// Any other.
    Plain,
}

/// An object of a [`Class`].
#[derive(Debug)]
pub struct ClassInstance<'a> {
    /// The class.
    pub class: Rc<Class<'a>>,
    /// Attributes with their values, in the order in which they were set.
    pub fields: RefCell<Vec<(Rc<str>, Value<'a>)>>,
}

impl<'a> ClassInstance<'a> {
    /// Whether it is a kernel to Triton: its class extends Triton's, or asks the kernel that it holds for all that is asked.
    pub(crate) fn is_kernel(&self) -> bool {
        let kernel = |value: &Value<'a>| matches!(value, Value::Function(of) if of.kind == FnKind::Jit);
        let holds = || self.fields.try_borrow().is_ok_and(|fields| fields.iter().any(|(_, value)| kernel(value)));
        self.class.is_kernel(crate::limits::values::BASES) || self.class.find("__getattribute__").is_some() && holds()
    }

    fn number(&self) -> Option<Value<'a>> {
        if self.class.kind != ClassKind::Enum || !self.class.is_of_integers() {
            return None;
        }
        let fields = self.fields.try_borrow().ok()?;
        let (_, value) = fields.iter().find(|(name, _)| &**name == "value")?;
        matches!(value, Value::Int(_) | Value::Bool(_)).then(|| value.clone())
    }
}

impl<'a> Class<'a> {
    /// What its body, or that of a class that it extends, defines under a name.
    pub(crate) fn find(&self, name: &str) -> Option<Value<'a>> {
        self.find_in(name, crate::limits::values::BASES)
    }

    /// Whether its objects are kernels: so many classes up, it extends that of Triton's.
    fn is_kernel(&self, depth: u32) -> bool {
        self.bases.iter().any(|base| match base {
            Value::Class(base) => depth > 0 && base.is_kernel(depth - 1),
            Value::Lib(path) | Value::Type(path) => path.rsplit('.').next() == Some("JITFunction"),
            _ => false,
        })
    }

    fn find_in(&self, name: &str, depth: u32) -> Option<Value<'a>> {
        self.scope.own(name).or_else(|| {
            self.bases.iter().find_map(|base| match base {
                Value::Class(base) if depth > 0 => base.find_in(name, depth - 1),
                _ => None,
            })
        })
    }

    fn is_of_integers(&self) -> bool {
        self.bases.iter().any(|base| match base {
            Value::Class(base) => base.is_of_integers(),
            Value::Type(name) | Value::Lib(name) => {
                name.ends_with("IntEnum") || name.ends_with("IntFlag") || &**name == "int"
            }
            Value::Builtin(row) => row.path == "int",
            _ => false,
        })
    }
}

/// An object of a [`LibClass`].
#[derive(Debug)]
pub struct Object<'a> {
    /// The class.
    pub class: &'static LibClass,
    /// In the order of the constructor.
    pub fields: Vec<(&'static str, Value<'a>)>,
}

/// A scalar or a register tensor.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    /// The SSA value; `None` for a register tensor whose content is not followed, which has none until an op asks for
    /// it, and for a constant that no op has asked for.
    pub ssa: Option<Ssa>,
    /// The element type.
    pub dtype: DType,
    /// Elements along each dimension, outermost first; empty for a scalar.
    pub shape: Rc<[i64]>,
    /// A layout object or [`Value::None`] where it is not known (`AutoLayout`, or never given).
    pub layout: Rc<Value<'a>>,
    /// Its value where it is a constant of the IR. A branch on it is a branch of the kernel all the same.
    pub constant: Option<i128>,
}

/// Where memory lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DescSpace {
    /// The shared memory of a CTA.
    Shared,
    /// Tensor memory, from Blackwell on.
    Tensor,
}

/// A memory descriptor.
#[derive(Clone, Debug)]
pub struct MemDesc<'a> {
    /// The value in the IR.
    pub ssa: Ssa,
    /// Where it lies.
    pub space: DescSpace,
    /// The element type.
    pub dtype: DType,
    /// Elements along each dimension, outermost first.
    pub shape: Vec<i64>,
    /// Shape of the allocation that it is a view of.
    pub alloc_shape: Vec<i64>,
    /// A layout object.
    pub layout: Value<'a>,
}

/// Which engine reads a tensor descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DescKind {
    /// TMA, block by block.
    Tiled,
    /// TMA, as a convolution reads it.
    Im2col,
    /// AMD's tensor data mover.
    Tdm,
}

/// A tensor descriptor, as an argument or made in the kernel.
#[derive(Clone, Debug)]
pub struct TensorDesc<'a> {
    /// The value in the IR.
    pub ssa: Ssa,
    /// Which engine reads it.
    pub kind: DescKind,
    /// The element type.
    pub dtype: DType,
    /// Elements of a block along each dimension, outermost first.
    pub block_shape: Vec<i64>,
    /// How a block lies in shared memory: a layout object.
    pub layout: Value<'a>,
    /// Sizes of the tensor, scalars.
    pub shape: Vec<Value<'a>>,
    /// Elements between neighbours along each dimension, scalars.
    pub strides: Vec<Value<'a>>,
}
