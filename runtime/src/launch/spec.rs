//! What a launch recipe says: a kernel, a grid, and a value for each argument.

use std::path::PathBuf;

use base::TextRange;

use crate::error::RunError;
use tensors::array::{Array, ElemType, strides};

/// How a kernel is launched.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchSpec {
    /// Name of the entry function; `None` where the file holds only one.
    pub kernel: Option<String>,
    /// Programs along x, y, z; one cluster each where the kernel has clusters.
    pub grid: [u32; 3],
    /// By name, or by position (`arg3`, from 0) where the text has no names.
    pub arguments: Vec<LaunchArgument>,
    /// How a Python file is run where its own code makes the launch; `None`: the launch is made from the
    /// arguments above.
    pub entry: Option<PythonEntry>,
    /// Where the recipe comes from.
    pub origin: LaunchOrigin,
}

impl LaunchSpec {
    /// What is given for a parameter, by its name or else by its position.
    pub fn argument(&self, name: &str, position: usize) -> Option<&ArgumentValue> {
        let by_name = self.arguments.iter().find(|argument| argument.name == name);
        let numbered = format!("arg{position}");
        let found = by_name.or_else(|| self.arguments.iter().find(|argument| argument.name == numbered));
        found.map(|argument| &argument.given)
    }
}

/// An argument of a launch.
#[derive(Clone, PartialEq, Debug)]
pub struct LaunchArgument {
    /// The parameter, without `%`.
    pub name: String,
    /// The value that it gets.
    pub given: ArgumentValue,
}

/// What an argument is. A number that is none is itself again: two launches are one where they say the same.
#[derive(Clone, Debug)]
pub enum ArgumentValue {
    /// An integer.
    Int(i64),
    /// A truth value: to a kernel in Python that is another type than an integer.
    Bool(bool),
    /// A floating-point number.
    Float(f64),
    /// A pointer to a tensor, or the tensor behind a tensor descriptor.
    Array(ArraySpec),
    /// Text that only Python understands (a constexpr); of no use to a kernel that is compiled already.
    Python(String),
}

impl PartialEq for ArgumentValue {
    fn eq(&self, other: &ArgumentValue) -> bool {
        match (self, other) {
            (ArgumentValue::Int(one), ArgumentValue::Int(other)) => one == other,
            (ArgumentValue::Bool(one), ArgumentValue::Bool(other)) => one == other,
            (ArgumentValue::Float(one), ArgumentValue::Float(other)) => one.total_cmp(other).is_eq(),
            (ArgumentValue::Array(one), ArgumentValue::Array(other)) => one == other,
            (ArgumentValue::Python(one), ArgumentValue::Python(other)) => one == other,
            _ => false,
        }
    }
}

/// A tensor that is made for the launch.
#[derive(Clone, PartialEq, Debug)]
pub struct ArraySpec {
    /// The type of its elements.
    pub dtype: ElemType,
    /// Whether they are integers without a sign: to a kernel in Python that is another type.
    pub unsigned: bool,
    /// Elements, outermost first.
    pub shape: Vec<u64>,
    /// In elements; `None`: row-major and dense.
    pub strides: Option<Vec<u64>>,
    /// What its elements are.
    pub fill: Fill,
}

impl ArraySpec {
    /// What a recipe calls the type of its elements: as MLIR does, and `u32` where they have no sign.
    pub fn type_name(&self) -> &'static str {
        match (self.unsigned, self.dtype) {
            (true, ElemType::I8) => "u8",
            (true, ElemType::I16) => "u16",
            (true, ElemType::I32) => "u32",
            (true, ElemType::I64) => "u64",
            (_, dtype) => dtype.name(),
        }
    }

    /// The strides in elements, those of a dense tensor where the recipe gives none.
    pub fn strides(&self) -> Vec<u64> {
        self.strides.clone().unwrap_or_else(|| strides(&self.shape))
    }

    /// How many bytes it takes, dense or at its strides, whichever is more.
    pub(crate) fn span(&self) -> u64 {
        let elements = self.shape.iter().fold(1u64, |all, size| all.saturating_mul(*size));
        let reach = self.shape.iter().zip(self.strides.iter().flatten());
        let reach =
            reach.fold(1u64, |all, (size, stride)| all.saturating_add(size.saturating_sub(1).saturating_mul(*stride)));
        elements.max(reach).saturating_mul(self.dtype.bytes() as u64)
    }

    /// The bytes of a tensor of this kind at the strides of the recipe.
    ///
    /// # Errors
    ///
    /// Where they span too much memory.
    pub(crate) fn lay_out(&self, array: Array, name: &str) -> Result<Vec<u8>, RunError> {
        match &self.strides {
            None => Ok(array.bytes),
            Some(strides) => array
                .to_strided(strides)
                .ok_or_else(|| RunError(format!("`{name}` spans too much memory with these strides"))),
        }
    }

    /// The tensor in a buffer that was laid out like this; `None` where the buffer is too small.
    pub(crate) fn read_back(&self, buffer: &[u8]) -> Option<Array> {
        Array::from_strided(self.dtype, &self.shape, &self.strides(), buffer)
    }
}

/// What is in a tensor before the launch. Random fills depend on the seed and the argument's name alone.
#[derive(Clone, Debug)]
pub enum Fill {
    /// The same value everywhere.
    Value(f64),
    /// Nothing: memory that nobody has written. All its bits are set, which is NaN in floats.
    Empty,
    /// 0, 1, 2, …, modulo what the type holds exactly.
    Arange,
    /// Normal, with this mean and standard deviation.
    Normal(f64, f64),
    /// Uniform within these bounds, for integers the upper one excluded.
    Uniform(f64, f64),
    /// From a `.npy` file, or from a member of a `.npz` file.
    File(PathBuf, Option<String>),
}

impl PartialEq for Fill {
    fn eq(&self, other: &Fill) -> bool {
        let same = |one: &f64, other: &f64| one.total_cmp(other).is_eq();
        match (self, other) {
            (Fill::Value(one), Fill::Value(other)) => same(one, other),
            (Fill::Empty, Fill::Empty) | (Fill::Arange, Fill::Arange) => true,
            (Fill::Normal(a, b), Fill::Normal(c, d)) | (Fill::Uniform(a, b), Fill::Uniform(c, d)) => {
                same(a, c) && same(b, d)
            }
            (Fill::File(path, member), Fill::File(other, others)) => path == other && member == others,
            _ => false,
        }
    }
}

/// How Python code comes to launch the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PythonEntry {
    /// A pytest node (`test_gemm.py::test_small[64]`).
    Pytest(String),
    /// The file as a script, with these arguments.
    Main(Vec<String>),
    /// A call of one of the file's functions (`run_gemm(64, 64, 64)`), as a Python expression.
    Call(String),
}

/// Where a recipe comes from, the surest source first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaunchOrigin {
    /// The command line.
    CommandLine,
    /// A `fencepost-run:` comment at this range of the file.
    Directive(TextRange),
    /// The workspace's store of recipes that were run before.
    Stored,
    /// The settings of the project.
    Settings,
    /// A launch that the file's host code makes, at this range.
    LaunchSite(TextRange),
    /// A test of the file.
    Pytest,
    /// The `__main__` of the file.
    Main,
    /// Sizes were chosen, which is said with every result.
    Chosen,
}
