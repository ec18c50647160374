//! From a launch recipe to the parameters of a kernel.
//!
//! A tensor descriptor comes with parameters for its sizes and strides, which follow from its tensor. What the
//! recipe leaves out is chosen, and said: integers get 256 or what divides by their divisor, descriptors a tensor
//! of a few blocks, pointers memory without an end.

use base::Cancel;
use std::rc::Rc;

use kernel::Var;
use lower::Executable;
use ttgir::{Tree, Ty, ValueId};

use super::context::{Representation, representation};
use super::program::ParameterValue;
use crate::element::encode;
use crate::launch::{ArgumentValue, ArraySpec, Fill, LaunchSpec, default_fill, fill};
use crate::run::RunError;
use tensors::array::{Array, ElemType};
use tensors::tensor::Sizes;
use tensors::{Descriptor, Environment, RuntimeValue, TensorValue, tile};

/// Blocks of a chosen tensor along each dimension.
const BLOCKS: u64 = 2;

/// A tensor that the kernel was given.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OutputTensor {
    name: String,
    address: u64,
    spec: ArraySpec,
}

/// What the parameters are.
#[derive(Debug, Default)]
pub(super) struct BoundArguments {
    /// Values of variables.
    pub(super) values: Vec<(Var, ParameterValue)>,
    /// By position of the parameter: the integer that it is.
    pub(super) ints: Vec<Option<i64>>,
    /// Tensors to be read back.
    pub(super) outputs: Vec<OutputTensor>,
    /// Memory that nobody has written: where it starts, and how many bytes it has.
    pub(super) empty: Vec<(u64, u64)>,
    /// What was chosen.
    pub(super) notes: Vec<String>,
}

struct Binder<'a> {
    tree: &'a Tree,
    params: &'a [ValueId],
    launch: &'a LaunchSpec,
    seed: u64,
    /// Bytes that all tensors together may take.
    room: u64,
    world: &'a mut Environment,
    cancel: &'a Cancel<'a>,
    bound: BoundArguments,
    values: Vec<Option<ParameterValue>>,
    chosen: Vec<String>,
}

/// Binds the parameters of a kernel.
pub(super) fn bind(
    tree: &Tree,
    made: &Executable,
    launch: &LaunchSpec,
    (seed, room): (u64, u64),
    world: &mut Environment,
    cancel: &Cancel<'_>,
) -> Result<BoundArguments, RunError> {
    let block = tree.regions(made.function).first().and_then(|region| tree.blocks(*region).first());
    let params = block.map_or(&[][..], |block| tree.block_args(*block));
    let values = vec![None; params.len()];
    let mut binder = Binder {
        tree,
        params,
        launch,
        seed,
        room,
        world,
        cancel,
        bound: BoundArguments::default(),
        values,
        chosen: Vec::new(),
    };
    binder.check_names()?;
    for at in 0..params.len() {
        binder.parameter(at)?;
    }
    Ok(binder.finish(made))
}

impl Binder<'_> {
    fn name(&self, at: usize) -> String {
        let name = self.params.get(at).map_or("", |value| self.tree.value_name(*value));
        name.trim_start_matches('%').to_owned()
    }

    /// Whether all names of the recipe are parameters.
    fn check_names(&self) -> Result<(), RunError> {
        let names: Vec<String> = (0..self.params.len()).map(|at| self.name(at)).collect();
        let of = |name: &str| names.iter().any(|check_names| check_names == name) || self.position(name).is_some();
        match self.launch.arguments.iter().find(|argument| !of(&argument.name) && is_runtime(&argument.given)) {
            Some(argument) => Err(RunError(format!(
                "the kernel has no parameter `{}`; it has {}",
                argument.name,
                names
                    .iter()
                    .filter(|name| !name.contains('.'))
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
            None => Ok(()),
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        let at = name.strip_prefix("arg")?.parse::<usize>().ok()?;
        (at < self.params.len()).then_some(at)
    }

    fn given(&self, at: usize) -> Option<&ArgumentValue> {
        self.launch.argument(&self.name(at), at)
    }

    /// What is given for a parameter, truth values as integers.
    fn number_or_array(&self, at: usize) -> Option<ArgumentValue> {
        match self.given(at)? {
            ArgumentValue::Bool(truth) => Some(ArgumentValue::Int(i64::from(*truth))),
            given => Some(given.clone()),
        }
    }

    fn parameter(&mut self, at: usize) -> Result<(), RunError> {
        if self.values[at].is_some() {
            return Ok(());
        }
        let (value, name) = (self.params[at], self.name(at));
        let strange = |what: &str| RunError(format!("`{name}` is given {what}, which its type does not take"));
        match (self.tree.value_type(value).map(|ty| self.tree.ty(ty)), self.number_or_array(at)) {
            (Some(Ty::TensorDesc { .. }), given) => self.descriptor(at, given),
            (Some(Ty::Ptr), Some(ArgumentValue::Array(spec))) => {
                let address = self.allocate(&name, &spec)?;
                self.values[at] = Some(ParameterValue::Int(address));
                Ok(())
            }
            (Some(Ty::Ptr), Some(ArgumentValue::Int(address))) => {
                self.values[at] = Some(ParameterValue::Int(address));
                Ok(())
            }
            (Some(Ty::Ptr), None) => self.elastic(at),
            (Some(Ty::Int(_) | Ty::Index), Some(ArgumentValue::Int(int))) => {
                self.values[at] = Some(ParameterValue::Int(int));
                Ok(())
            }
            (Some(Ty::Int(_) | Ty::Index), None) => {
                let width = match representation(self.tree, value) {
                    Representation::Int(width) => width,
                    _ => 64,
                };
                let int = if width <= 8 { 1 } else { 256 };
                self.chosen.push(format!("{name}={int}"));
                self.values[at] = Some(ParameterValue::Int(int));
                Ok(())
            }
            (Some(Ty::Float(_)), given) => {
                let float = match given {
                    Some(ArgumentValue::Float(float)) => float,
                    Some(ArgumentValue::Int(int)) => int as f64,
                    Some(_) => return Err(strange("a tensor")),
                    None => {
                        self.chosen.push(format!("{name}=1.0"));
                        1.0
                    }
                };
                let dtype = tile::read(self.tree, value, 0).map_err(|trap| RunError(trap.to_string()))?.dtype;
                let scalar = TensorValue::splat(dtype, Sizes::from([]), encode(dtype, float));
                self.values[at] = Some(ParameterValue::Value(RuntimeValue::Tensor(scalar)));
                Ok(())
            }
            (_, Some(ArgumentValue::Array(_))) => Err(strange("a tensor")),
            (_, Some(_)) => Err(strange("a number")),
            (_, None) => Ok(()),
        }
    }

    /// Memory for a tensor, filled; its address.
    fn allocate(&mut self, name: &str, spec: &ArraySpec) -> Result<i64, RunError> {
        // Before anything is made: a launch that the file itself makes may be one for a GPU with more memory.
        let needed = spec.span().saturating_add(self.world.global.held());
        if needed > self.room {
            let (takes, room) = (spec.span() >> 20, self.room >> 20);
            return Err(RunError(format!(
                "`{name}` takes {takes} MiB, and a run holds {room} MiB at most: give it smaller sizes, or more memory"
            )));
        }
        let bytes = spec.lay_out(fill(spec, name, self.seed, self.cancel)?, name)?;
        let size = bytes.len() as u64;
        let address = self.world.global.allocate(name, bytes);
        if spec.fill == Fill::Empty {
            self.bound.empty.push((address, size));
        }
        self.bound.outputs.push(OutputTensor { name: name.to_owned(), address, spec: spec.clone() });
        Ok(address as i64)
    }

    /// Memory without an end for a pointer that nothing is given for.
    fn elastic(&mut self, at: usize) -> Result<(), RunError> {
        let name = self.name(at);
        let ty = tile::read(self.tree, self.params[at], 0).map_err(|trap| RunError(trap.to_string()))?;
        let dtype = ty.pointee.unwrap_or(ElemType::I32);
        let elements = 4096 / dtype.bytes().max(1) as u64;
        let spec = ArraySpec {
            dtype,
            unsigned: false,
            shape: vec![elements],
            strides: None,
            fill: default_fill(dtype, false),
        };
        let page = fill(&spec, &name, self.seed, self.cancel)?.bytes;
        let address = self.world.global.elastic(&name, move |from, bytes| {
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = page.get((from as usize + at) % page.len().max(1)).copied().unwrap_or(0);
            }
        });
        self.chosen.push(format!("{name}={}[…]", dtype.name()));
        self.values[at] = Some(ParameterValue::Int(address as i64));
        Ok(())
    }

    fn descriptor(&mut self, at: usize, given: Option<ArgumentValue>) -> Result<(), RunError> {
        let name = self.name(at);
        let ty = tile::read(self.tree, self.params[at], tile::WHOLE).map_err(|trap| RunError(trap.to_string()))?;
        let block = ty.tile.whole.to_vec();
        let spec = match given {
            Some(ArgumentValue::Array(spec)) => spec,
            Some(_) => return Err(RunError(format!("`{name}` is a tensor descriptor: give it a tensor"))),
            None => {
                let rows = block
                    .iter()
                    .map(|size| if *size == 1 && block.len() == 2 { 256 } else { size * BLOCKS })
                    .collect::<Vec<_>>();
                let shape = rows.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
                self.chosen.push(format!("{name}={}[{shape}]", ty.dtype.name()));
                let fill = default_fill(ty.dtype, false);
                ArraySpec { dtype: ty.dtype, unsigned: false, shape: rows, strides: None, fill }
            }
        };
        if spec.shape.len() != block.len() {
            let (rank, own) = (block.len(), spec.shape.len());
            return Err(RunError(format!(
                "`{name}` describes a tensor of {rank} dimensions, and is given one of {own}"
            )));
        }
        let base = self.allocate(&name, &spec)? as u64;
        let shape: Vec<i64> = spec.shape.iter().map(|size| *size as i64).collect();
        let steps: Vec<i64> = spec.strides().iter().map(|step| *step as i64).collect();
        self.follow(at, &name, &shape, &steps);
        let desc = Descriptor { base, dtype: ty.dtype, shape, strides: steps, block, ..Descriptor::default() };
        self.values[at] = Some(ParameterValue::Value(RuntimeValue::Descriptor(Rc::new(desc))));
        Ok(())
    }

    /// The parameters behind a descriptor that say its sizes and strides.
    fn follow(&mut self, at: usize, name: &str, shape: &[i64], steps: &[i64]) {
        let prefix = format!("{name}.");
        for (next, int) in (at + 1..self.params.len()).zip(shape.iter().chain(steps)) {
            let check_names = self.name(next);
            let nameless = check_names.is_empty() || self.position(&check_names).is_some();
            let wide = matches!(representation(self.tree, self.params[next]), Representation::Int(32 | 64));
            let own = check_names.starts_with(&prefix) || nameless && wide && self.given(next).is_none();
            if !own {
                break;
            }
            self.values[next] = Some(ParameterValue::Int(*int));
        }
    }

    fn finish(mut self, made: &Executable) -> BoundArguments {
        if !self.chosen.is_empty() {
            self.bound.notes.push(format!("chosen, since the recipe does not say: {}", self.chosen.join(" ")));
        }
        for (at, value) in self.values.into_iter().enumerate() {
            self.bound.ints.push(match &value {
                Some(ParameterValue::Int(int)) => Some(*int),
                _ => None,
            });
            if let (Some(value), Some(Some(var))) = (value, made.arguments.get(at)) {
                self.bound.values.push((*var, value));
            }
        }
        self.bound
    }
}

fn is_runtime(given: &ArgumentValue) -> bool {
    matches!(given, ArgumentValue::Array(_))
}

impl OutputTensor {
    /// Its name, and what it holds now.
    pub(super) fn read(&self, world: &Environment) -> Option<(String, Array)> {
        Some((self.name.clone(), self.spec.read_back(world.global.contents(self.address)?)?))
    }
}
