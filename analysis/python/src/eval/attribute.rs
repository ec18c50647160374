//! Attributes, and names that no scope has.

use std::rc::Rc;

use crate::host;
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::value::{Class, ClassKind, DType, Value};

impl<'a> Interp<'a> {
    /// A name that neither the program nor its files define.
    pub(super) fn ambient(&mut self, name: &str) -> Option<Value<'a>> {
        if let Some(value) = self.library.lookup(name, self.version) {
            return Some(value);
        }
        match name {
            "super" => return Some(Value::Lib("super".into())),
            "__name__" => return Some(Value::Str("module".into())),
            "__file__" => {
                let path = self.files.get(self.scope.file.0 as usize).map_or("", |file| file.module.path());
                return Some(Value::Str(path.into()));
            }
            "NotImplemented" => return Some(Value::Type("NotImplemented".into())),
            "object" | "type" | "slice" | "bytes" | "complex" | "frozenset" | "open" | "input" | "iter" | "next"
            | "id" | "hash" | "vars" | "dir" | "globals" | "locals" | "exec" | "eval" | "compile" | "callable"
            | "issubclass" | "setattr" | "delattr" | "format" | "chr" | "ord" | "hex" | "oct" | "bin" | "pow"
            | "round" | "divmod" | "filter" | "repr" | "ascii" | "memoryview" | "bytearray" | "__import__" => {
                return Some(Value::Lib(name.into()));
            }
            _ => {}
        }
        let exception = name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning");
        if exception || name == "StopIteration" {
            return Some(Value::Type(name.into()));
        }
        self.starred(self.scope.file, name)
    }

    /// What stands in a library under a full name.
    pub(super) fn library(&mut self, path: &str) -> Value<'a> {
        if let Some(value) = self.state.imported.get(path) {
            return value.clone();
        }
        let triton = self.triton(path);
        let path = triton.as_deref().unwrap_or(path);
        if let Some(value) = self.library.lookup(path, self.version) {
            return value;
        }
        if let Some(module) = self.python_module(path) {
            return module;
        }
        if (self.follows_host() || is_release(path))
            && let Some(value) = host::constant(self, path)
        {
            return value;
        }
        // `acme.gl.program_id`, where `acme` is none of the workspace's.
        if let Some((module, name)) = path.rsplit_once('.')
            && let Some(module) = crate::syntax::package::customary(crate::syntax::texts::last_part(module))
            && let Some(value) = self.library.lookup(&format!("{module}.{name}"), self.version)
        {
            return value;
        }
        match path {
            // Nothing is loaded before it is imported.
            "sys.modules" => Value::Dict(Rc::default()),
            "sys.version_info" => Value::Tuple([Value::Int(3), Value::Int(12), Value::Int(0)].into()),
            "triton.__version__" => Value::Str(format!("{}.{}.0", self.version.0, self.version.1).into()),
            _ => Value::Lib(path.into()),
        }
    }

    /// `value.name`.
    pub fn attribute(&mut self, value: &Value<'a>, name: &str) -> Eval<'a> {
        match self.find_attribute(value, name)? {
            Some(found) => Ok(found),
            None => {
                let owner = match value {
                    Value::Instance(instance) => instance.class.def.name.to_string(),
                    Value::Class(class) => class.def.name.to_string(),
                    value => value.class_name().to_owned(),
                };
                self.raise(format!("{owner} has no attribute `{name}`"))
            }
        }
    }

    /// `value.name`, where there is such an attribute.
    pub fn find_attribute(&mut self, value: &Value<'a>, name: &str) -> Result<Option<Value<'a>>, super::Stop> {
        let found = match value {
            Value::Unknown(_) => Some(value.clone()),
            Value::Host(thing) => Some(host::attribute(self, thing, name)?),
            Value::Lib(path) => {
                let within = (self.in_kernel(), path.clone());
                if let Some(found) = self.state.of_libraries.get(&within).and_then(|names| names.get(name)) {
                    return Ok(Some(found.clone()));
                }
                let full = format!("{path}.{name}");
                if self.in_kernel() && self.library.lacks(&full, self.version) {
                    return self.raise(format!("`{path}` has no `{name}`"));
                }
                let found = self.library(&full);
                // What a relative name means hangs on the file.
                if !path.starts_with('.') {
                    self.state.of_libraries.entry(within).or_default().insert(name.into(), found.clone());
                }
                Some(found)
            }
            Value::Builtin(row) => match name {
                "__name__" => Some(Value::Str(row.path.rsplit('.').next().unwrap_or(row.path).into())),
                _ => self.library.lookup(&format!("{}.{name}", row.path), self.version),
            },
            Value::LibClass(class) => match name {
                "__name__" => Some(Value::Str(class.path.rsplit('.').next().unwrap_or(class.path).into())),
                _ => self
                    .library
                    .member(class.path, name, self.version)
                    .map(Value::Builtin)
                    .or_else(|| self.library.lookup(&format!("{}.{name}", class.path), self.version)),
            },
            Value::Module(scope) => match self.module_attribute(scope, name)? {
                Some(found) => Some(found),
                None => self.submodule(scope, name)?,
            },
            Value::Instance(instance) => match self.instance_attribute(instance, name)? {
                Some(found) => Some(found),
                None if instance.class.kind == ClassKind::NamedTuple => match name {
                    "_fields" => Some(field_names(&instance.class)),
                    _ => self.member(value, "tuple", name)?,
                },
                None => match name {
                    "__dict__" => {
                        let fields = instance.fields.borrow();
                        let items = fields.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone()));
                        Some(Value::Dict(Rc::new(items.collect::<Vec<_>>().into())))
                    }
                    _ if self.follows_host() => of_library(&instance.class, name),
                    _ => None,
                },
            },
            Value::Class(class) => match name {
                "__name__" | "__qualname__" => Some(Value::Str(class.def.name.as_str().into())),
                // `torch.autograd.Function`.
                "apply" if self.follows_host() && super::class::find(class, "apply").is_none() => {
                    super::class::find(class, "forward").map(|forward| host::with_context(&forward))
                }
                "_fields" if class.kind == ClassKind::NamedTuple => Some(field_names(class)),
                "__annotations__" => {
                    let own = class.fields.iter().map(|(name, kind)| (Value::Str(name.clone()), kind.clone()));
                    Some(Value::Dict(Rc::new(own.collect::<Vec<_>>().into())))
                }
                "__dict__" => {
                    let names = class.scope.snapshot();
                    let own = names.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone()));
                    Some(Value::Dict(Rc::new(own.collect::<Vec<_>>().into())))
                }
                "__bases__" => Some(Value::Tuple(class.bases.clone().into())),
                "__module__" => Some(Value::Str("module".into())),
                "__doc__" => Some(Value::None),
                _ => match super::class::find(class, name) {
                    Some(Value::Function(function)) if function.role == crate::value::Role::ClassMethod => {
                        Some(Value::Bound(Rc::new((value.clone(), Value::Function(function)))))
                    }
                    found => found,
                },
            },
            Value::Function(function) => match name {
                "__name__" | "__qualname__" => Some(Value::Str(function.def.name().into())),
                "warmup" | "run" if self.follows_host() => Some(host::warmup(value)),
                "fn" | "__func__" | "__wrapped__" => Some(value.clone()),
                _ => Some(Value::Unknown(format!("the attribute `{name}` of a function").into())),
            },
            Value::Bound(bound) if matches!(&bound.1, Value::Type(name) if &**name == "super") => {
                let Value::Instance(instance) = &bound.0 else { return Ok(None) };
                let inherited = instance.class.bases.iter().find_map(|base| match base {
                    Value::Class(base) => super::class::find(base, name),
                    _ => None,
                });
                match inherited {
                    Some(found) => Some(self.member_of(bound.0.clone(), found)?),
                    // `object` has a constructor that does nothing.
                    None if name == "__init__" => self.library.lookup("print", self.version),
                    None => None,
                }
            }
            Value::Bound(bound) => self.find_attribute(&bound.1.clone(), name)?,
            Value::Partial(partial) => match name {
                "func" => Some(partial.function.clone()),
                "args" => Some(Value::Tuple(partial.args.clone().into())),
                _ => Some(Value::Unknown("an attribute of a partial function".into())),
            },
            Value::Object(object) => match object.fields.iter().find(|(field, _)| *field == name) {
                Some((_, found)) => Some(found.clone()),
                None => self.member(value, object.class.path, name)?,
            },
            Value::Slice(parts) => match name {
                "start" => Some(parts[0].clone()),
                "stop" => Some(parts[1].clone()),
                "step" => Some(parts[2].clone()),
                _ => None,
            },
            Value::Type(_) => Some(Value::Unknown("an attribute of a type".into())),
            // What a constexpr holds; here the value stands for itself.
            _ if name == "value" && !matches!(value, Value::Tensor(_) | Value::MemDesc(_) | Value::TensorDesc(_)) => {
                Some(value.clone())
            }
            Value::Tensor(tensor) => match self.member(value, "tensor", name)? {
                Some(found) => Some(found),
                None => match name {
                    "dtype" => Some(Value::DType(tensor.dtype)),
                    "shape" => Some(Value::Tuple(tensor.shape.iter().map(|size| Value::Int((*size).into())).collect())),
                    "handle" => Some(Value::Unknown("a handle of the compiler".into())),
                    _ => None,
                },
            },
            Value::DType(dtype) => match self.member(value, "dtype", name)? {
                Some(found) => Some(found),
                None => match name {
                    "primitive_bitwidth" | "int_bitwidth" => Some(Value::Int(dtype.bits().into())),
                    "name" => Some(Value::Str(dtype.name().into())),
                    "scalar" => Some(value.clone()),
                    "element_ty" => match dtype {
                        DType::Ptr(to) => to.map(|to| Value::DType(*to)),
                        _ => Some(value.clone()),
                    },
                    _ => None,
                },
            },
            Value::Tuple(items) if let Some(part) = host::answer_part(items, name) => Some(part),
            value => self.member(value, value.class_name(), name)?,
        };
        Ok(found)
    }

    /// A method or a computed attribute of the table.
    fn member(&mut self, value: &Value<'a>, class: &str, name: &str) -> Result<Option<Value<'a>>, super::Stop> {
        if let Some(row) = self.library.member(class, name, self.version) {
            return Ok(Some(Value::Bound(Rc::new((value.clone(), Value::Builtin(row))))));
        }
        if let Some(row) = self.library.computed(class, name, self.version) {
            let args = Args { pos: vec![value.clone()], named: Vec::new() };
            return self.call(&Value::Builtin(row), args, self.at).map(Some);
        }
        let instead = crate::library::missing(self, &format!("{class}.{name}"));
        Ok(instead.map(|instead| Value::Bound(Rc::new((value.clone(), instead)))))
    }
}

/// `_fields` of a named tuple.
fn field_names<'a>(class: &Class<'a>) -> Value<'a> {
    Value::Tuple(class.fields.iter().map(|(name, _)| Value::Str(name.clone())).collect())
}

/// Whether a name is the release of a package, which decides what files import.
fn is_release(path: &str) -> bool {
    matches!(path, "triton.__version__" | "torch.__version__" | "torch.version.cuda" | "torch.version.hip")
}

/// An attribute that an object has of a class of a library which its own extends.
fn of_library<'a>(class: &Class<'a>, name: &str) -> Option<Value<'a>> {
    let inherited = class.bases.iter().find_map(|base| match base {
        Value::Class(base) => of_library(base, name),
        Value::Lib(path) if name == "training" && path.starts_with("torch.nn.") => {
            Some(host::number(host::OpenNumber::Bool))
        }
        Value::Lib(path) => Some(Value::Unknown(format!("`{name}` of `{path}` is not known").into())),
        Value::Unknown(why) => Some(Value::Unknown(why.clone())),
        _ => None,
    });
    inherited.filter(|_| !name.starts_with("__"))
}
