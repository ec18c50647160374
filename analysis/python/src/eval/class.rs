//! Classes of a Python file, and their objects.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use crate::interp::{Eval, ExecMode, Interp, Stop};
use crate::library::Args;
use crate::value::{Class, ClassInstance, ClassKind, FnKind, Role, Value};

impl<'a> Interp<'a> {
    pub(super) fn class_def(&mut self, def: &'a StmtClassDef) -> Result<(), Stop> {
        if self.in_kernel() {
            return self.raise("a kernel defines no classes");
        }
        let (mut kind, mut others) = (ClassKind::Plain, Vec::new());
        for decorator in &def.decorator_list {
            match self.decorator(&decorator.expression).as_deref().map(crate::syntax::texts::last_part) {
                Some("aggregate" | "_aggregate") => kind = ClassKind::Aggregate,
                Some("dataclass") => kind = ClassKind::Dataclass,
                Some(_) => {}
                None => others.push(&decorator.expression),
            }
        }
        let mut bases = Vec::new();
        for base in def.arguments.iter().flat_map(|arguments| arguments.args.iter()) {
            let base = self.expr(base).or_else(|stop| self.or_unknown(stop))?;
            let inherited = match &base {
                Value::Class(class) => class.kind,
                Value::Lib(path) | Value::Type(path) if path.ends_with("NamedTuple") => ClassKind::NamedTuple,
                Value::Lib(path) | Value::Type(path)
                    if path.ends_with("Enum") || path.ends_with("IntFlag") || path.ends_with(".Flag") =>
                {
                    ClassKind::Enum
                }
                _ => ClassKind::Plain,
            };
            if kind == ClassKind::Plain {
                kind = inherited;
            }
            bases.push(base);
        }
        let outer = self.scope.clone();
        let scope = self.scopes.open(outer.file, Some(outer.clone()));
        let mut fields: Vec<(Rc<str>, Value<'a>)> = Vec::new();
        for base in &bases {
            if let Value::Class(base) = base {
                fields.extend(base.fields.iter().cloned());
            }
        }
        let inner = std::mem::replace(&mut self.scope, scope.clone());
        let ran = self.class_body(def, &outer, &scope, &mut fields);
        self.scope = inner;
        ran?;
        let class = Rc::new(Class { def, bases, scope: scope.clone(), fields, kind });
        if kind == ClassKind::Enum {
            for stmt in &def.body {
                let Stmt::Assign(stmt) = stmt else { continue };
                let Some(Expr::Name(name)) = stmt.targets.first() else { continue };
                let Some(value) = scope.own(name.id.as_str()) else { continue };
                let fields = vec![("name".into(), Value::Str(name.id.as_str().into())), ("value".into(), value)];
                let member = ClassInstance { class: class.clone(), fields: RefCell::new(fields) };
                scope.set(name.id.as_str(), Value::Instance(Rc::new(member)));
            }
        }
        let mut value = Value::Class(class);
        for expr in others.into_iter().rev() {
            let decorated = self.expr(expr).and_then(|decorator| {
                let args = Args { pos: vec![value.clone()], named: Vec::new() };
                self.call(&decorator, args, Interp::range(expr))
            });
            value = decorated.or_else(|stop| self.or_unknown(stop))?;
        }
        outer.set(def.name.as_str(), value);
        Ok(())
    }

    fn class_body(
        &mut self,
        def: &'a StmtClassDef,
        outer: &Rc<crate::scope::Scope<'a>>,
        scope: &Rc<crate::scope::Scope<'a>>,
        fields: &mut Vec<(Rc<str>, Value<'a>)>,
    ) -> Result<(), Stop> {
        for stmt in &def.body {
            self.step()?;
            match stmt {
                // The names of a class body are not seen in its methods.
                Stmt::FunctionDef(method) => {
                    let value = self.function(method, outer.clone())?;
                    scope.set(method.name.as_str(), value);
                }
                Stmt::AnnAssign(stmt) => {
                    let annotation = self.expr(&stmt.annotation).or_else(|stop| match stop {
                        Stop::Raised(_, reason) => Ok(Value::Unknown(reason)),
                        stop => self.or_unknown(stop),
                    })?;
                    let Expr::Name(name) = &*stmt.target else { continue };
                    let name = name.id.as_str();
                    match fields.iter_mut().find(|(field, _)| **field == *name) {
                        Some(field) => field.1 = annotation,
                        None => fields.push((name.into(), annotation)),
                    }
                    if let Some(value) = &stmt.value {
                        let value = self.expr(value).or_else(|stop| self.or_unknown(stop))?;
                        scope.set(name, value);
                    }
                }
                stmt => {
                    self.block(std::slice::from_ref(stmt))?;
                }
            }
        }
        Ok(())
    }

    /// A new object.
    pub(super) fn construct(&mut self, class: &Rc<Class<'a>>, args: Args<'a>) -> Eval<'a> {
        let name = class.def.name.as_str();
        let range = Interp::range(class.def);
        self.state.touch(class.scope.file, range);
        if class.kind == ClassKind::Enum {
            return self.enum_member(class, &args);
        }
        let instance = Rc::new(ClassInstance { class: class.clone(), fields: RefCell::default() });
        let this = Value::Instance(instance.clone());
        if let Some(init) = find(class, "__init__") {
            let mut args = args;
            args.pos.insert(0, this.clone());
            let init = match init {
                // An aggregate is put together by Python, whatever its constructor is marked as.
                Value::Function(function) if function.kind == FnKind::Jit => {
                    let (mode, kind) = (self.mode, FnKind::Host);
                    let function = crate::value::Function {
                        def: function.def,
                        kind,
                        scope: function.scope.clone(),
                        defaults: function.defaults.clone(),
                        role: function.role,
                    };
                    self.mode = mode;
                    Value::Function(Rc::new(function))
                }
                init => init,
            };
            if let Value::Unknown(reason) = self.call(&init, args, self.at)? {
                return Ok(Value::Unknown(reason));
            }
            self.complete(class, &instance)?;
            return Ok(this);
        }
        if matches!(class.kind, ClassKind::Plain) {
            let known = class.bases.iter().all(|base| matches!(base, Value::Class(_) | Value::Type(_)));
            if !known {
                return self.unknown(format!("what `{name}` inherits from is not followed"));
            }
            if !args.pos.is_empty() || !args.named.is_empty() {
                return self.raise(format!("`{name}` takes no arguments"));
            }
            return Ok(this);
        }
        if args.pos.len() > class.fields.len() {
            return self.raise(format!("`{name}` has {} fields, more values are given", class.fields.len()));
        }
        let mut given: Vec<Option<Value<'a>>> = args.pos.into_iter().map(Some).collect();
        given.resize(class.fields.len(), None);
        for (key, value) in args.named {
            match class.fields.iter().position(|(field, _)| *field == key).and_then(|at| given.get_mut(at)) {
                Some(Some(_)) => return self.raise(format!("`{name}` is given `{key}` twice")),
                Some(slot) => *slot = Some(value),
                None => return self.raise(format!("`{name}` has no field `{key}`")),
            }
        }
        let mut fields = Vec::with_capacity(given.len());
        for ((field, _), value) in class.fields.iter().zip(given) {
            let value = value.or_else(|| find(class, field));
            match value {
                Some(value) => fields.push((field.clone(), self.default_of(value)?)),
                None => return self.raise(format!("`{name}` is not given `{field}`")),
            }
        }
        *instance.fields.borrow_mut() = fields;
        if class.kind == ClassKind::Dataclass
            && let Some(post) = find(class, "__post_init__")
        {
            self.by_python(|interp| {
                let args = Args { pos: vec![this.clone()], named: Vec::new() };
                interp.call(&post, args, interp.at)
            })?;
        }
        self.complete(class, &instance)?;
        Ok(this)
    }

    /// `field(default_factory=list)` stands for a fresh value.
    fn default_of(&mut self, value: Value<'a>) -> Eval<'a> {
        let Value::Partial(partial) = &value else { return Ok(value) };
        let Value::Type(name) = &partial.function else { return Ok(value) };
        if &**name != "dataclasses.field" {
            return Ok(value);
        }
        match partial.named.iter().find(|(name, _)| matches!(&**name, "default" | "default_factory")) {
            Some((name, value)) if &**name == "default" => Ok(value.clone()),
            Some((_, factory)) => self.call(&factory.clone(), Args::default(), self.at),
            None => self.unknown("the field has no default"),
        }
    }

    /// An aggregate has all of its fields, in the order of the class, and each of the right kind.
    fn complete(&mut self, class: &Rc<Class<'a>>, instance: &Rc<ClassInstance<'a>>) -> Result<(), Stop> {
        if class.kind != ClassKind::Aggregate {
            return Ok(());
        }
        let mut ordered = Vec::with_capacity(class.fields.len());
        for (field, annotation) in &class.fields {
            let value = instance.fields.borrow().iter().find(|(name, _)| name == field).map(|(_, value)| value.clone());
            let value = value.or_else(|| find(class, field));
            let Some(value) = value else {
                let name = class.def.name.as_str();
                return self.raise(format!("the constructor of `{name}` does not set `{field}`"));
            };
            if let (Value::Type(name), true) = (annotation, number(&value))
                && name.ends_with("tensor")
            {
                let name = class.def.name.as_str();
                return self.raise(format!("`{name}.{field}` is a tensor, and is given a constexpr"));
            }
            ordered.push((field.clone(), value));
        }
        *instance.fields.borrow_mut() = ordered;
        Ok(())
    }

    fn enum_member(&mut self, class: &Rc<Class<'a>>, args: &Args<'a>) -> Eval<'a> {
        let Some(wanted) = args.pos.first() else { return self.raise("an enumeration is called with a value") };
        let members: Vec<Value<'a>> = class.scope.names.borrow().iter().map(|(_, value)| value.clone()).collect();
        for member in members {
            if let Value::Instance(instance) = &member
                && instance
                    .fields
                    .borrow()
                    .iter()
                    .any(|(name, value)| &**name == "value" && super::host::equal(value, wanted))
            {
                return Ok(member);
            }
        }
        self.raise(format!("`{}` has no such value", class.def.name.as_str()))
    }

    /// `super()`: the methods of the classes that the present method's object extends.
    pub(super) fn parent(&mut self, _args: &Args<'a>) -> Eval<'a> {
        let this = self.scope.get("self").or_else(|| self.scope.names.borrow().iter().next().map(|(_, v)| v.clone()));
        match this {
            Some(this @ Value::Instance(_)) => Ok(Value::Bound(Rc::new((this, Value::Type("super".into()))))),
            _ => self.unknown("`super()` outside of a method is not followed"),
        }
    }

    /// An attribute of an object.
    pub(super) fn instance_attribute(
        &mut self,
        instance: &Rc<ClassInstance<'a>>,
        name: &str,
    ) -> Result<Option<Value<'a>>, Stop> {
        let own = instance.fields.borrow().iter().find(|(field, _)| **field == *name).map(|(_, value)| value.clone());
        if own.is_some() {
            return Ok(own);
        }
        let this = Value::Instance(instance.clone());
        let found = find(&instance.class, name);
        match found {
            Some(value) => self.member_of(this, value).map(Some),
            None if name == "__class__" => Ok(Some(Value::Class(instance.class.clone()))),
            None if name == "__triton_aggregate__" => {
                Ok(Some(Value::Bool(instance.class.kind == ClassKind::Aggregate)))
            }
            None if name.starts_with("__") => Ok(None),
            None => match find(&instance.class, "__getattr__") {
                Some(otherwise) => {
                    let args = Args { pos: vec![this.clone(), Value::Str(name.into())], named: Vec::new() };
                    let at = self.at;
                    let found = self.by_python(|interp| interp.call(&otherwise, args, at))?;
                    // A function of the kernel is bound to what it was asked of, not to what it was found in.
                    Ok(Some(match &found {
                        Value::Bound(bound) => match &bound.1 {
                            Value::Function(function) if function.kind == FnKind::Jit => {
                                Value::Bound(Rc::new((this, bound.1.clone())))
                            }
                            _ => found,
                        },
                        _ => found,
                    }))
                }
                None => Ok(None),
            },
        }
    }

    /// What a class's member is for an object of the class.
    pub(super) fn member_of(&mut self, this: Value<'a>, value: Value<'a>) -> Eval<'a> {
        let Value::Function(function) = &value else { return Ok(value) };
        match function.role {
            Role::Static => Ok(value),
            // What is launched by its class's objects is no method of theirs.
            Role::Plain
                if function.kind == FnKind::Jit
                    && self.follows_host()
                    && !matches!(&this, Value::Instance(of) if of.class.kind == ClassKind::Aggregate) =>
            {
                Ok(value)
            }
            Role::ClassMethod => {
                let class = match &this {
                    Value::Instance(instance) => Value::Class(instance.class.clone()),
                    _ => this,
                };
                Ok(Value::Bound(Rc::new((class, value))))
            }
            Role::Property => {
                let args = Args { pos: vec![this], named: Vec::new() };
                let mode = self.mode;
                // A plain property is run by Python, also in the kernel.
                if function.kind != FnKind::Jit {
                    self.mode = ExecMode::Host;
                }
                let result = self.call(&value, args, self.at);
                self.mode = mode;
                result
            }
            Role::Plain => Ok(Value::Bound(Rc::new((this, value)))),
        }
    }
}

fn number(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_))
}

/// A member of a class or of one that it extends.
pub(super) fn find<'a>(class: &Class<'a>, name: &str) -> Option<Value<'a>> {
    class.find(name)
}

/// Sets an attribute of an object.
pub(super) fn set_field<'a>(instance: &ClassInstance<'a>, name: &str, value: Value<'a>) {
    let mut fields = instance.fields.borrow_mut();
    match fields.iter_mut().find(|(field, _)| **field == *name) {
        Some(field) => field.1 = value,
        None => fields.push((name.into(), value)),
    }
}
