//! The evaluator's state, and what the builtins ask of it.

use std::rc::Rc;
use std::sync::Arc;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::{FxHashMap, FxHashSet};
use typed_arena::Arena;

use crate::doubt::{Doubt, DoubtKind};
use crate::emit::{Attr, Builder, LayoutAlias, Op, Ssa, Type, UNMODELLED};
use crate::host::thing::Session;
use crate::library::Library;
pub(crate) use crate::limits::run::STEPS;
use crate::origin::{FileId, Frame, FrameId, Origin, OriginId};
use crate::scope::{Scope, Scopes};
use crate::specialization::{Language, Spec, ValueSource};
use crate::syntax::{Body, Module, Pending, Sources};
use crate::target::{Target, Version};
use crate::value::{DType, Function, Object, Tensor, Value};
use base::{Cancel, TextRange};
use dialects::Arith;

/// The trees that an evaluation reads; what it makes of them lives as long.
#[derive(Default)]
pub struct Trees {
    /// Files.
    pub(crate) modules: Arena<Arc<Module>>,
    /// Expressions that are in no file, such as what is given for a parameter.
    pub(crate) expressions: Arena<Expr>,
}

/// Why an evaluation ends early.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It cannot be followed here; the statement around it says so, and what it would have defined is
    /// [`Value::Unknown`].
    Unknown(TextRange, Rc<str>),
    /// Triton itself would refuse it here (`static_assert`, a wrong type, a missing argument).
    Raised(TextRange, Rc<str>),
    /// Calls nest too deep: host code ends as far as the statement of a file or a kernel that began it, for what a
    /// recursion does beside its deepest call would be done at every level of it.
    Deep(TextRange, Rc<str>),
    /// The whole elaboration ends: a limit was met.
    Limit(Rc<str>),
    /// Nobody wants the answer any more.
    Cancelled,
}

/// A value, or why there is none.
pub type Eval<'a> = Result<Value<'a>, Stop>;

/// What is wrong with the program that is no finding of the machine: Triton would refuse it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which file.
    pub file: FileId,
    /// Where, in the file's source.
    pub range: TextRange,
    /// A fixed short name, such as `removed-name` or `layout-mismatch`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Whether it only is a remark.
    pub hint: bool,
    /// What should stand at `range` instead, and what a menu says of it.
    pub fix: Option<(String, String)>,
}

/// A file and the scope of its names, once it was run.
#[derive(Debug)]
pub struct File<'a> {
    /// Its tree.
    pub module: &'a Module,
    /// Its names.
    pub scope: Rc<Scope<'a>>,
    /// Whether its statements were run (or are being run), those of [`File::pending`] left out.
    pub run: bool,
    /// Of an imported file, what was not run.
    pub pending: Option<Box<Pending<'a>>>,
}

/// How statements are executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecMode {
    /// By Python: assignments keep host values, conditions must be known.
    Host,
    /// In the kernel: numbers that are assigned become scalars of the kernel, conditions may be computed.
    Device,
}

/// What somebody says of a launch; the rest is chosen, and Triton may well take what it has instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stated {
    /// Whether types are not all of our own choice.
    pub types: bool,
    /// Whether it is known how many warps execute the kernel.
    pub warps: bool,
    /// Whether it is known how many CTAs do.
    pub ctas: bool,
    /// Whether the target is known.
    pub target: bool,
}

impl Stated {
    /// What is said of a specialisation. Nobody leaves out what is not the default.
    fn of(spec: &Spec) -> Stated {
        let from = |source: ValueSource| spec.arguments.iter().any(|argument| argument.source == source);
        let chosen = from(ValueSource::Chosen);
        let said = |source: ValueSource| source < ValueSource::Default || !chosen;
        Stated {
            types: !chosen || spec.host.is_some() || from(ValueSource::Launch),
            warps: said(spec.num_warps.1) && spec.num_warps.1 != ValueSource::Chosen,
            ctas: said(spec.num_ctas.1) && spec.num_ctas.1 != ValueSource::Chosen,
            // Host code runs with a target that it may be written for, beside others.
            target: spec.target.1 < ValueSource::Launch || spec.target.1 == ValueSource::Configuration,
        }
    }
}

/// The state of an elaboration.
pub struct Interp<'a> {
    /// Keeps the trees of all files.
    pub trees: &'a Trees,
    /// Where other files come from.
    pub sources: &'a dyn Sources,
    /// What is found by full name.
    pub library: &'static Library,
    /// Asked now and then whether to go on.
    pub cancel: &'a Cancel<'a>,
    /// The files that were looked at, by [`FileId`].
    pub files: Vec<File<'a>>,
    /// All scopes that were opened.
    pub scopes: Scopes<'a>,
    /// What is emitted.
    pub builder: Builder,
    /// By [`OriginId`].
    pub origins: Vec<Origin>,
    /// By [`FrameId`].
    pub frames: Vec<Frame>,
    /// The memory that functions are handed, by its number in [`Frame::memory`].
    pub handed: Vec<Ssa>,
    handed_ids: FxHashMap<Ssa, u32>,
    origin_ids: FxHashMap<Origin, OriginId>,
    /// The call or iteration that is being elaborated.
    pub frame: Option<FrameId>,
    /// The file that is being evaluated.
    pub file: FileId,
    /// The expression that is being evaluated, in the file's source.
    pub at: TextRange,
    /// What [`Interp::at`] calls, for its origin.
    pub what: &'static str,
    /// How statements are executed now.
    pub mode: ExecMode,
    /// What the kernel is compiled for.
    pub target: Target,
    /// The language of the kernel.
    pub language: Language,
    /// The release of Triton.
    pub version: Version,
    /// Warps of the partition that is being elaborated.
    pub num_warps: u32,
    /// CTAs of a cluster.
    pub num_ctas: u32,
    /// What somebody says of the kernel's launch.
    pub stated: Stated,
    /// Whether tensor cores of the kernel work in pairs of CTAs (`ttng.two-ctas`).
    pub two_ctas: bool,
    /// Whether a kernel of plain Triton says by itself which memory and barriers it uses, as those of TLX do.
    pub explicit_memory: bool,
    /// Which of the partitions is elaborated that are made of one `async_task` of TLX, from 0.
    pub replica: Option<i64>,
    /// Registers of which it is known whether they are an accumulator of an asynchronous product, which has a type of its
    /// own in Triton, or a plain tensor.
    pub accumulators: FxHashMap<Ssa, bool>,
    /// What Triton would refuse, each once.
    pub problems: Vec<Problem>,
    /// What was not followed, each place once.
    pub unmodelled: Vec<(FileId, TextRange, String)>,
    /// Labels of the partitions that were specialised last, in order: the functions that they run.
    pub partitions: Vec<String>,
    /// Nesting of calls, for the limit.
    pub depth: u32,
    /// Statements and expressions run, for the limit.
    pub steps: u64,
    /// How many may be run.
    pub most_steps: u64,
    /// Ops that were emitted, for the limit.
    pub emitted: u64,
    /// The names that are looked up first.
    pub scope: Rc<Scope<'a>>,
    /// What only the evaluator looks at.
    pub state: EvaluatorState<'a>,
    /// Launches that host code makes; while there is none, host code is not followed through libraries.
    pub session: Option<Session<'a>>,
}

impl<'a> Interp<'a> {
    /// Nothing is run yet.
    pub fn new(
        trees: &'a Trees,
        sources: &'a dyn Sources,
        library: &'static Library,
        cancel: &'a Cancel<'a>,
        target: Target,
        version: Version,
    ) -> Interp<'a> {
        let mut scopes = Scopes::default();
        let scope = scopes.open(FileId(0), None);
        Interp {
            trees,
            sources,
            library,
            cancel,
            files: Vec::new(),
            scopes,
            builder: Builder::default(),
            origins: Vec::new(),
            frames: Vec::new(),
            handed: Vec::new(),
            handed_ids: FxHashMap::default(),
            origin_ids: FxHashMap::default(),
            frame: None,
            file: FileId(0),
            at: TextRange::default(),
            what: "",
            mode: ExecMode::Host,
            target,
            language: Language::Gluon,
            version,
            num_warps: 4,
            num_ctas: 1,
            stated: Stated::default(),
            two_ctas: false,
            explicit_memory: false,
            replica: None,
            accumulators: FxHashMap::default(),
            problems: Vec::new(),
            unmodelled: Vec::new(),
            partitions: Vec::new(),
            depth: 0,
            steps: 0,
            most_steps: STEPS,
            emitted: 0,
            scope,
            state: EvaluatorState::default(),
            session: None,
        }
    }

    /// Steps without those of statements that were run because somebody asked for the names that they bind.
    pub fn own_steps(&self) -> u64 {
        self.steps.saturating_sub(self.state.loading_steps)
    }

    /// Takes what a specialisation says of the launch.
    pub(crate) fn launched(&mut self, spec: &Spec) {
        self.language = spec.language;
        self.num_warps = spec.num_warps.0;
        self.num_ctas = spec.num_ctas.0;
        self.stated = Stated::of(spec);
    }

    /// Stops with a message where types are somebody's: with other types than ours Triton may take it.
    ///
    /// # Errors
    ///
    /// Where they are.
    pub fn refuse(&self, message: impl Into<Rc<str>>) -> Result<(), Stop> {
        if self.stated.types { self.raise(message) } else { Ok(()) }
    }

    /// The origin of what is emitted now.
    pub fn here(&mut self) -> OriginId {
        let origin = Origin { file: self.file, range: self.at, what: self.what, frame: self.frame };
        let next = OriginId(self.origins.len() as u32);
        let id = *self.origin_ids.entry(origin.clone()).or_insert(next);
        if id == next {
            self.origins.push(origin);
        }
        id
    }

    /// Stops with a reason: this expression is not followed.
    pub fn unknown<T>(&self, reason: impl Into<Rc<str>>) -> Result<T, Stop> {
        Err(Stop::Unknown(self.at, reason.into()))
    }

    /// Stops with a message: Triton would refuse this expression.
    pub fn raise<T>(&self, message: impl Into<Rc<str>>) -> Result<T, Stop> {
        Err(Stop::Raised(self.at, message.into()))
    }

    /// Says at the present expression what is not followed, and marks the place in the kernel.
    pub fn unmodelled(&mut self, reason: impl Into<String>) {
        // An op that is declared nowhere is never refused.
        let _ = self.emit(Op::undeclared(UNMODELLED));
        self.not_followed(self.file, self.at, reason.into());
    }

    /// The number of memory that a function is handed.
    pub(crate) fn handed(&mut self, memory: Ssa) -> u32 {
        let next = self.handed.len() as u32;
        let number = *self.handed_ids.entry(memory).or_insert(next);
        if number == next {
            self.handed.push(memory);
        }
        number
    }

    /// Says it without a mark in the kernel.
    pub fn not_followed(&mut self, file: FileId, range: TextRange, reason: String) {
        if !self.unmodelled.iter().any(|(of, at, _)| (*of, *at) == (file, range)) {
            self.unmodelled.push((file, range, reason));
        }
    }

    /// Says what is wrong with the present expression.
    pub fn problem(&mut self, code: &'static str, message: impl Into<String>) {
        let problem =
            Problem { file: self.file, range: self.at, code, message: message.into(), hint: false, fix: None };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// A range of a node.
    pub fn range(node: &impl Ranged) -> TextRange {
        crate::syntax::range(node)
    }

    /// A constant of the kernel, of a whole number.
    pub fn constant(&mut self, value: i128, dtype: DType) -> Tensor<'a> {
        if dtype.is_float() {
            return self.float(value as f64, dtype);
        }
        let attribute = match dtype {
            DType::Int1 => Attr::Bool(value & 1 != 0),
            _ => Attr::Int(dtype.signed(value), dtype.ir_name()),
        };
        let ssa = self.computed(Op::new(Arith::Constant).attr("value", attribute), "result", &dtype.ir());
        Tensor { ssa: Some(ssa), dtype, shape: Rc::from([]), layout: Rc::new(Value::None), constant: Some(value) }
    }

    /// A scalar that the kernel computes from what is not followed (registers, global memory): a free
    /// value.
    pub fn free(&mut self, dtype: DType) -> Tensor<'a> {
        let ssa = self.opaque(&dtype.ir());
        Tensor { ssa: Some(ssa), dtype, shape: Rc::from([]), layout: Rc::new(Value::None), constant: None }
    }

    /// A register tensor.
    pub fn registers(&self, dtype: DType, shape: &[i64], layout: Value<'a>) -> Value<'a> {
        Value::Tensor(Tensor { ssa: None, dtype, shape: shape.into(), layout: Rc::new(layout), constant: None })
    }

    /// The SSA value of a tensor; a register tensor that has none gets an opaque one, and a constant that was
    /// not emitted yet is.
    pub fn ssa(&mut self, tensor: &Tensor<'a>) -> Ssa {
        if let Some(ssa) = tensor.ssa {
            return ssa;
        }
        if let Some(Tensor { ssa: Some(ssa), .. }) = tensor.constant.map(|value| self.constant(value, tensor.dtype)) {
            return ssa;
        }
        self.opaque(&tensor.ir())
    }
}

impl Tensor<'_> {
    /// Its type in the IR: `i32`, `tensor<128x64xf16>`.
    pub fn ir(&self) -> Type {
        match &*self.shape {
            [] => self.dtype.ir(),
            _ => Type::Tensor { shape: self.shape.clone(), element: Rc::new(self.dtype.ir()) },
        }
    }
}

/// What is left to run of a function behind the present statement, for a `return` in a computed branch.
#[derive(Clone, Debug)]
pub enum Rest<'a> {
    /// The statements behind it, and what comes behind its block.
    Block(&'a [Stmt], Option<Rc<Rest<'a>>>),
}

/// What only the evaluator looks at.
#[derive(Debug, Default)]
pub struct EvaluatorState<'a> {
    /// Loops and other blocks of the present function out of which the kernel cannot return.
    pub(crate) closed: u32,
    /// Loops that are unrolled, likewise.
    pub(crate) unrolled: u32,
    /// Loops whose body is run only to see what it changes.
    pub(crate) dry: u32,
    /// `try` statements around.
    pub(crate) tries: u32,
    /// Ops that end the `with` statements whose context managers were made.
    pub(crate) leaving: Vec<Op>,
    /// Whether a constant of the kernel is taken for any number.
    pub(crate) open_constants: bool,
    /// Values of which only the type is known, so far.
    pub(crate) opaques: u64,
    /// Whether a statement is run because somebody asked for its names, and the steps of all such.
    pub(crate) loading: bool,
    pub(crate) loading_steps: u64,
    /// Nesting of expressions and blocks.
    pub(crate) nest: u32,
    pub(crate) rest: Option<Rc<Rest<'a>>>,
    /// Where what ends the elaboration was raised.
    pub(crate) raised: Option<(FileId, Option<FrameId>)>,
    /// Files by path.
    pub(crate) by_path: FxHashMap<String, FileId>,
    /// Imported files by the full name in the `import` statement.
    pub(crate) imported: FxHashMap<String, Value<'a>>,
    /// What names of modules of libraries stand for, by whether a kernel asks.
    pub(crate) of_libraries: FxHashMap<(bool, Rc<str>), FxHashMap<Rc<str>, Value<'a>>>,
    /// Modules of libraries whose names a file took with `*`.
    pub(crate) stars: Vec<(FileId, Rc<str>)>,
    /// Whether packages that may be copies of Triton are, by their absolute names.
    pub(crate) copies: FxHashMap<String, bool>,
    /// The `def` that is looked for, and the functions that it made.
    pub(crate) wanted: Option<(FileId, u32)>,
    pub(crate) found: Vec<Rc<Function<'a>>>,
    /// Functions and classes that were run, in the order in which they first were.
    touched: Vec<(FileId, TextRange)>,
    touched_ids: FxHashSet<(FileId, TextRange)>,
    /// Bodies of functions that were called, by the address of their `def`.
    bodies: FxHashMap<*const StmtFunctionDef, Rc<Body<'a>>>,
    /// Functions that Python runs, of files whose launches are looked for.
    pub(crate) hosts: Vec<Rc<Function<'a>>>,
    /// Layouts that are named in the module, by object and the hash of what it holds.
    pub(crate) layouts: FxHashMap<(*const Object<'a>, u64), (Rc<Object<'a>>, LayoutAlias)>,
    /// Set while it is only asked how far the elaboration comes.
    pub(crate) trial: Option<Trial>,
}

impl<'a> EvaluatorState<'a> {
    /// Notes that a function or class is run.
    pub(crate) fn touch(&mut self, file: FileId, range: TextRange) {
        if self.touched_ids.insert((file, range)) {
            self.touched.push((file, range));
        }
    }

    /// What was run, each once.
    pub(crate) fn into_touched(self) -> Vec<(FileId, TextRange)> {
        self.touched
    }

    /// The body of a function of a file.
    pub(crate) fn body(&mut self, def: &'a StmtFunctionDef) -> Rc<Body<'a>> {
        self.bodies.entry(def).or_insert_with(|| Rc::new(Body::of(def))).clone()
    }
}

/// What is noted of an elaboration of which only that is asked how far it comes.
#[derive(Debug)]
pub(crate) struct Trial {
    /// Statements of kernels that were run, by file and place.
    pub(crate) reached: FxHashSet<(FileId, u32)>,
    pub(crate) doubts: Vec<Doubt>,
    /// Where the part of the kernel's body ends that is run, if that is not all of it.
    pub(crate) end: Option<u32>,
}

impl Interp<'_> {
    /// Notes that values are accepted that the kernel is not written for.
    pub fn doubt(&mut self, kind: DoubtKind) {
        let doubt = Doubt { file: self.file, range: self.at, kind };
        if let Some(trial) = &mut self.state.trial
            && !trial.doubts.contains(&doubt)
        {
            trial.doubts.push(doubt);
        }
    }
}

impl<'a> Interp<'a> {
    /// The function of host code whose statement starts at a place of a file, decorated or not.
    pub fn host_function_at(&self, file: FileId, def: u32) -> Option<Rc<Function<'a>>> {
        let is = |function: &&Rc<Function<'a>>| function.scope.file == file && function.def.range().start == def;
        self.state.hosts.iter().find(is).cloned()
    }

    /// What was raised has ended a run of host code, and nothing else.
    pub(crate) fn forget_raised(&mut self) {
        self.state.raised = None;
    }

    /// Emits an op at the present expression and gives its results.
    ///
    /// # Errors
    ///
    /// Where the op is not what its declaration says: it is not followed here.
    pub fn emit(&mut self, op: Op) -> Result<Vec<Ssa>, Stop> {
        let here = self.here();
        self.emitted += 1;
        match self.builder.push(Some(here), op) {
            Ok(results) => Ok(results),
            Err(error) => self.unknown(error.to_string()),
        }
    }

    /// Leaves an op to the end of the `with` statement whose context manager is being made.
    pub fn on_leaving(&mut self, op: Op) {
        self.state.leaving.push(op);
    }

    /// Emits an op that Python gets nothing of.
    ///
    /// # Errors
    ///
    /// As [`Interp::emit`].
    pub fn emit_effect(&mut self, op: Op) -> Eval<'a> {
        self.emit(op)?;
        Ok(Value::None)
    }

    /// Emits an op with one result.
    ///
    /// # Errors
    ///
    /// As [`Interp::emit`].
    pub fn emit_value(&mut self, op: Op) -> Result<Ssa, Stop> {
        match self.emit(op)?.first() {
            Some(result) => Ok(*result),
            None => self.unknown("an op has no result"),
        }
    }

    /// Emits an op with one result, by its group and type. Where the op is not what its declaration says that is
    /// said, and the result is a free value.
    pub fn computed(&mut self, op: Op, result: &'static str, ty: &Type) -> Ssa {
        match self.emit_value(op.result(result, ty.clone())) {
            Ok(made) => made,
            Err(stop) => {
                if let Stop::Unknown(range, reason) = stop {
                    self.not_followed(self.file, range, format!("this value cannot be computed: {reason}"));
                }
                self.opaque(ty)
            }
        }
    }

    /// A value of which only the type is known.
    pub fn opaque(&mut self, ty: &Type) -> Ssa {
        self.state.opaques += 1;
        let made = self.emit_value(Op::undeclared("tt.opaque").result("results", ty.clone()));
        made.unwrap_or_else(|_| self.builder.fresh(ty.clone()))
    }

    /// The type of a value.
    pub fn ty(&self, value: Ssa) -> Type {
        self.builder.ty(value).clone()
    }

    /// The types of values.
    pub fn types(&self, values: &[Ssa]) -> Vec<Type> {
        values.iter().map(|value| self.ty(*value)).collect()
    }
}
