//! Assignments.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::{Expr, ExprAttribute, StmtAnnAssign, StmtAssign, StmtAugAssign};

use super::extent::{ITEMS, TOO_LONG};
use super::host::SlicePlaces;
use crate::interp::{Interp, Stop};
use crate::value::{ClassInstance, ClassKind, FnKind, Value};

/// What a variable is that was annotated as a constexpr, and has no value yet.
const AWAITED: &str = "it is annotated, and nothing is assigned to it yet";

/// How deeply in a value its parts are named by the variable: a value may hold itself.
const NAMED_LEVELS: u32 = 6;

impl<'a> Interp<'a> {
    pub(super) fn assign_statement(&mut self, stmt: &'a StmtAssign) -> Result<(), Stop> {
        let value = self.expr(&stmt.value)?;
        self.unheard(&stmt.value, &value);
        if self.in_kernel() {
            return self.assigned_in_kernel(stmt, value);
        }
        stmt.targets.iter().try_for_each(|target| self.bind(target, value.clone()))
    }

    fn assigned_in_kernel(&mut self, stmt: &'a StmtAssign, value: Value<'a>) -> Result<(), Stop> {
        let [target] = &stmt.targets[..] else {
            return self.raise("a kernel assigns to one variable at a time");
        };
        if let Expr::Name(name) = target
            && let Some(Value::Unknown(reason)) = self.scope.own(name.id.as_str())
            && &*reason == AWAITED
        {
            return self.bind(target, value);
        }
        if stmt.value.is_string_literal_expr() {
            return self.raise("a variable that is a text is annotated as a `constexpr`");
        }
        self.fits_variable(&value)?;
        let value = self.becomes(value);
        self.bind(target, value)
    }

    /// Refuses what no variable of a kernel holds unless it is annotated as a constexpr.
    fn fits_variable(&self, value: &Value<'a>) -> Result<(), Stop> {
        match value {
            Value::Tuple(items) => items.iter().try_for_each(|item| self.fits_variable(item)),
            Value::Builtin(_) => self.raise("a variable that is a function is annotated as a `constexpr`"),
            Value::Function(function) if function.kind == FnKind::Jit => {
                self.raise("a variable that is a function is annotated as a `constexpr`")
            }
            Value::Object(object)
                if ["gl.DistributedLayout", "gl.SharedLayout", "gl.nvidia.blackwell.TensorMemoryLayout"]
                    .iter()
                    .any(|path| object.class.is_a(path)) =>
            {
                self.raise("a variable that is a layout is annotated as a `constexpr`")
            }
            _ => Ok(()),
        }
    }

    /// Refuses targets that a kernel does not have.
    fn is_target(&self, target: &Expr) -> Result<(), Stop> {
        match target {
            Expr::List(_) => self.raise("a kernel does not assign to a list of names"),
            Expr::Starred(_) => self.raise("a kernel has no `*` in assignments"),
            _ => Ok(()),
        }
    }

    /// Says of a name of Gluon that no release has, such as one that is still being typed, that what it was
    /// meant to do is not followed.
    pub(super) fn unheard(&mut self, expr: &Expr, value: &Value<'a>) {
        if let (Value::Lib(path), true) = (value, self.in_kernel())
            && path.starts_with("gl.")
        {
            self.not_followed(self.file, Interp::range(expr), format!("`{path}` is not known"));
        }
    }

    pub(super) fn augmented(&mut self, stmt: &'a StmtAugAssign) -> Result<(), Stop> {
        let before = self.expr(&stmt.target)?;
        let by = self.expr(&stmt.value)?;
        if let (Value::List(list), false) = (&before, self.in_kernel())
            && stmt.op == ruff_python_ast::Operator::Add
        {
            let items = self.items(&by)?;
            super::extent::extend(&before, list, items);
            return Ok(());
        }
        let outer = std::mem::replace(&mut self.at, Interp::range(stmt));
        let value = self.binary(stmt.op, &before, &by);
        self.at = outer;
        let value = self.becomes(value?);
        let in_place = if self.in_kernel() { None } else { crate::host::in_place(&before) };
        self.bind(&stmt.target, in_place.unwrap_or(value))
    }

    pub(super) fn annotated(&mut self, stmt: &'a StmtAnnAssign) -> Result<(), Stop> {
        let constexpr = self.in_kernel() && self.is_constexpr(&stmt.annotation);
        let Some(value) = &stmt.value else {
            if let (true, Expr::Name(name)) = (constexpr, &*stmt.target)
                && self.scope.own(name.id.as_str()).is_none()
            {
                self.scope.set(name.id.as_str(), Value::Unknown(AWAITED.into()));
            }
            return Ok(());
        };
        if constexpr
            && let Expr::Name(name) = &*stmt.target
            && self.state.dry == 0
            && self.scope.own(name.id.as_str()).is_some_and(|value| !matches!(value, Value::Unknown(_)))
        {
            // In a loop that is unrolled the second round refuses it.
            return self.raise(format!("`{}` is already defined: a constexpr is assigned once", name.id));
        }
        let value = self.expr(value)?;
        let value = if constexpr { value } else { self.becomes(value) };
        self.bind(&stmt.target, value)
    }

    /// Whether an annotation is `gl.constexpr`, under whatever name.
    pub(crate) fn is_constexpr(&mut self, annotation: &'a Expr) -> bool {
        match annotation {
            Expr::Attribute(attribute) => attribute.attr.as_str() == "constexpr",
            Expr::StringLiteral(text) => text.value.to_str().ends_with("constexpr"),
            Expr::Name(name) if name.id.as_str() == "constexpr" => true,
            Expr::Name(name) => match self.found(name.id.as_str()).ok().flatten() {
                Some(Value::Builtin(row)) => row.path.ends_with("constexpr"),
                Some(Value::Lib(path) | Value::Type(path)) => path.ends_with("constexpr"),
                _ => false,
            },
            _ => false,
        }
    }

    /// What an assigned value becomes: in the kernel a number is a scalar of the kernel.
    pub(super) fn becomes(&mut self, value: Value<'a>) -> Value<'a> {
        if !self.in_kernel() {
            return value;
        }
        match &value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => self.as_tensor(&value),
            Value::Tuple(items) if items.iter().any(Self::is_number) => {
                let items: Vec<_> = items.iter().map(|item| self.becomes(item.clone())).collect();
                Value::Tuple(items.into())
            }
            _ => value,
        }
    }

    fn is_number(value: &Value<'a>) -> bool {
        match value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
            Value::Tuple(items) => items.iter().any(Self::is_number),
            _ => false,
        }
    }

    /// `object.field = …` in a kernel, which Triton had up to 3.4: the variable becomes a changed object. Callers
    /// keep theirs, since a call hands on values.
    fn set_field_of(&mut self, attribute: &'a ExprAttribute, value: Value<'a>) -> Result<(), Stop> {
        let name = attribute.attr.as_str();
        match self.expr(&attribute.value)? {
            Value::Instance(old) if old.class.kind == ClassKind::Aggregate => {
                let fields = RefCell::new(old.fields.borrow().clone());
                let new = ClassInstance { class: old.class.clone(), fields };
                super::class::set_field(&new, name, value);
                crate::library::as_before(self, Interp::range(attribute), &format!("changes `{name}`"), 4);
                self.bind(&attribute.value, Value::Instance(Rc::new(new)))
            }
            Value::Unknown(reason) => self.unknown(reason),
            _ => self.raise("a kernel does not assign to attributes"),
        }
    }

    /// Binds a target of an assignment or a loop.
    pub(super) fn bind(&mut self, target: &'a Expr, value: Value<'a>) -> Result<(), Stop> {
        if self.in_kernel() {
            self.is_target(target)?;
        }
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                let open = self.follows_host() && crate::host::may_be_tensor(&value);
                let value = if open && self.scope.asks_of_tensor(name) { crate::host::as_tensor(value) } else { value };
                let (value, cost) = super::extent::bounded(value);
                self.steps += cost;
                self.name_values(name, &value);
                self.scope.set(name, value);
                Ok(())
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, &value),
            Expr::List(list) => self.unpack(&list.elts, &value),
            Expr::Starred(starred) => self.bind(&starred.value, value),
            Expr::Attribute(attribute) => {
                if self.in_kernel() {
                    return self.set_field_of(attribute, value);
                }
                match self.expr(&attribute.value)? {
                    Value::Instance(instance) => {
                        super::class::set_field(&instance, attribute.attr.as_str(), value);
                        Ok(())
                    }
                    Value::Module(scope) => {
                        self.demand(&scope, attribute.attr.as_str())?;
                        scope.set(attribute.attr.as_str(), value);
                        Ok(())
                    }
                    Value::Class(class) => {
                        class.scope.set(attribute.attr.as_str(), value);
                        Ok(())
                    }
                    Value::Host(thing) => {
                        crate::host::set_attribute(&thing, attribute.attr.as_str(), value);
                        Ok(())
                    }
                    // Settings of libraries have no part in a launch.
                    Value::Lib(_) if self.follows_host() => Ok(()),
                    _ => self.unknown("what this attribute belongs to is not followed"),
                }
            }
            Expr::Subscript(subscript) => {
                if self.in_kernel() {
                    return self.raise("a kernel does not assign to elements");
                }
                let (whole, at) = (self.expr(&subscript.value)?, self.expr(&subscript.slice)?);
                self.set_item(&whole, at, value)
            }
            _ => self.unknown("this target of an assignment is not followed"),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: &Value<'a>) -> Result<(), Stop> {
        if let Value::Unknown(_) = value {
            for target in targets {
                self.bind(target, value.clone())?;
            }
            return Ok(());
        }
        if self.follows_host()
            && let Value::Host(_) = value
            && crate::host::is_unknown(value)
        {
            let whole = !targets.iter().any(Expr::is_starred_expr);
            let mut sizes =
                crate::host::unpacked(value, targets.len()).filter(|_| whole).unwrap_or_default().into_iter();
            for target in targets {
                let item = match target {
                    Expr::Starred(_) => Value::Unknown("the rest of what is unpacked is not known".into()),
                    _ => match sizes.next().unwrap_or_else(|| crate::host::element(value)) {
                        size @ Value::Host(_) if crate::host::is_number(&size) => self.assumed_size().unwrap_or(size),
                        item => item,
                    },
                };
                self.bind(target, item)?;
            }
            return Ok(());
        }
        let items = self.items(value)?;
        let star = targets.iter().position(|target| matches!(target, Expr::Starred(_)));
        let enough = match star {
            Some(_) => items.len() + 1 >= targets.len(),
            None => items.len() == targets.len(),
        };
        if !enough {
            return self.raise(format!("{} values are unpacked into {} names", items.len(), targets.len()));
        }
        let mut items = items.into_iter();
        let surplus = (items.len() + 1).saturating_sub(targets.len());
        for target in targets {
            let value = match target {
                Expr::Starred(_) => Value::List(Rc::new(items.by_ref().take(surplus).collect::<Vec<_>>().into())),
                _ => items.next().unwrap_or(Value::None),
            };
            self.bind(target, value)?;
        }
        Ok(())
    }

    fn set_item(&mut self, whole: &Value<'a>, at: Value<'a>, value: Value<'a>) -> Result<(), Stop> {
        let value = super::extent::held(whole, value);
        match whole {
            Value::Dict(items) => {
                let mut items = items.borrow_mut();
                match items.iter_mut().find(|(key, _)| super::host::equal(key, &at)) {
                    Some(slot) => slot.1 = value,
                    None => items.push((at, value)),
                }
                Ok(())
            }
            Value::List(items) => {
                if let Value::Slice(parts) = &at {
                    return self.set_slice(whole, items, parts, &value);
                }
                let index = self.int(&at)?;
                let mut items = items.borrow_mut();
                match super::host::index(index, items.len()).and_then(|index| items.get_mut(index)) {
                    Some(slot) => {
                        *slot = value;
                        Ok(())
                    }
                    None => self.raise("the index is out of range"),
                }
            }
            Value::Host(_) => {
                crate::host::set_item(whole);
                Ok(())
            }
            Value::Lib(_) if self.follows_host() => Ok(()),
            _ => self.unknown("what this element belongs to is not followed"),
        }
    }

    /// Puts the items of a value in the place of a slice of a list.
    fn set_slice(
        &mut self,
        whole: &Value<'a>,
        items: &RefCell<Vec<Value<'a>>>,
        parts: &[Value<'a>; 3],
        value: &Value<'a>,
    ) -> Result<(), Stop> {
        let mut new = self.items(value)?;
        let len = items.borrow().len();
        if len + new.len() > ITEMS {
            new = vec![Value::Unknown(TOO_LONG.into())];
        }
        let new: Vec<Value<'a>> = new.into_iter().map(|item| super::extent::held(whole, item)).collect();
        let SlicePlaces { start, is_stretch, places } = self.slice_places(len, parts)?;
        let mut items = items.borrow_mut();
        if is_stretch {
            let end = (start + places.len()).min(items.len());
            items.splice(start.min(end)..end, new);
            return Ok(());
        }
        if places.len() != new.len() {
            drop(items);
            return self.raise(format!("{} values are assigned to {} places of a list", new.len(), places.len()));
        }
        for (place, item) in places.into_iter().zip(new) {
            items.get_mut(place).into_iter().for_each(|slot| *slot = item.clone());
        }
        Ok(())
    }

    /// `del target`.
    pub(super) fn delete(&mut self, target: &'a Expr) -> Result<(), Stop> {
        match target {
            Expr::Name(name) => {
                self.scope.names.borrow_mut().remove(name.id.as_str());
                Ok(())
            }
            Expr::Tuple(targets) => targets.elts.iter().try_for_each(|target| self.delete(target)),
            Expr::List(targets) => targets.elts.iter().try_for_each(|target| self.delete(target)),
            Expr::Subscript(subscript) if !self.in_kernel() => {
                let (whole, at) = (self.expr(&subscript.value)?, self.expr(&subscript.slice)?);
                self.delete_item(&whole, &at)
            }
            // What an attribute was is asked for by nobody who deletes it.
            _ => Ok(()),
        }
    }

    fn delete_item(&mut self, whole: &Value<'a>, at: &Value<'a>) -> Result<(), Stop> {
        match whole {
            Value::Dict(items) => {
                let mut items = items.borrow_mut();
                match items.iter().position(|(key, _)| super::host::equal(key, at)) {
                    Some(place) => drop(items.remove(place)),
                    None => {
                        drop(items);
                        return self.raise("there is no such key");
                    }
                }
                Ok(())
            }
            Value::List(items) => {
                let len = items.borrow().len();
                let mut places = match at {
                    Value::Slice(parts) => self.slice_places(len, parts)?.places,
                    at => match super::host::index(self.int(at)?, len) {
                        Some(place) => vec![place],
                        None => return self.raise("the index is out of range"),
                    },
                };
                places.sort_unstable();
                let mut items = items.borrow_mut();
                let mut number = 0;
                items.retain(|_| {
                    number += 1;
                    places.binary_search(&(number - 1)).is_err()
                });
                Ok(())
            }
            Value::Unknown(_) => Ok(()),
            Value::Lib(_) | Value::Host(_) if self.follows_host() => Ok(()),
            _ => self.unknown("what this element belongs to is not followed"),
        }
    }

    /// Gives the SSA values of a value the name of a variable.
    pub(super) fn name_values(&mut self, name: &str, value: &Value<'a>) {
        self.name_parts(name, value, NAMED_LEVELS);
    }

    fn name_parts(&mut self, name: &str, value: &Value<'a>, levels: u32) {
        let Some(levels) = levels.checked_sub(1) else { return };
        let named =
            |of: &Value<'a>| matches!(of, Value::Tensor(_) | Value::MemDesc(_) | Value::Instance(_) | Value::Tuple(_));
        match value {
            Value::Tensor(tensor) => {
                if let (Some(ssa), None) = (tensor.ssa, tensor.constant) {
                    self.builder.name(ssa, name);
                }
            }
            Value::MemDesc(memory) => self.builder.name(memory.ssa, name),
            Value::TensorDesc(desc) => self.builder.name(desc.ssa, name),
            Value::Instance(instance) => {
                let fields: Vec<_> = instance.fields.borrow().clone();
                for (field, value) in fields.iter().filter(|(_, value)| named(value)) {
                    self.name_parts(&format!("{name}.{field}"), value, levels);
                }
            }
            Value::Tuple(items) => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| named(item)) {
                    self.name_parts(&format!("{name}.{at}"), item, levels);
                }
            }
            Value::Object(object) => {
                let handle = object.fields.iter().find(|(field, _)| *field == "handle");
                handle.into_iter().for_each(|(_, handle)| self.name_parts(name, handle, levels));
            }
            _ => {}
        }
    }
}
