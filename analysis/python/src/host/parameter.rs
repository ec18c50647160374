//! What the parameters of a function are that nobody calls: by their annotations, and by what its body does with
//! them.

use std::rc::Rc;

use ruff_python_ast::{Expr, Parameter, Stmt};

use super::open::{number, open_tensor};
use super::sizes::free;
use super::thing::{Launcher, OpenNumber, any};
use crate::interp::Interp;
use crate::limits::tests::HANDED;
use crate::scope::Scope;
use crate::syntax::Asked;
use crate::value::{FunctionNode, Value};

/// What an annotation says.
fn annotated<'a>(annotation: &Expr) -> Option<Value<'a>> {
    match annotation {
        Expr::Name(name) => named(name.id.as_str()),
        Expr::Attribute(attribute) => named(attribute.attr.as_str()),
        Expr::StringLiteral(text) => named(text.value.to_str().rsplit('.').next().unwrap_or("")),
        // `Optional[T]`.
        Expr::Subscript(subscript) => match &*subscript.value {
            Expr::Name(name) if name.id.as_str() == "Optional" => annotated(&subscript.slice),
            Expr::Attribute(attribute) if attribute.attr.as_str() == "Optional" => annotated(&subscript.slice),
            _ => None,
        },
        // `T | None`.
        Expr::BinOp(op) => annotated(&op.left).or_else(|| annotated(&op.right)),
        _ => None,
    }
}

fn named<'a>(name: &str) -> Option<Value<'a>> {
    Some(match name {
        "Tensor" | "FloatTensor" | "HalfTensor" | "Parameter" => open_tensor(None, None),
        "int" => free(&Rc::default()),
        "float" => number(OpenNumber::Float),
        "bool" => number(OpenNumber::Bool),
        _ => return None,
    })
}

/// What is known of parameters of a function with this body.
pub(super) struct Parameters<'a> {
    asked: Asked<'a>,
}

impl<'a> Parameters<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Parameters<'a> {
        Parameters { asked: Asked::of(body) }
    }

    /// The value of one of them.
    pub(super) fn value(&self, parameter: &'a Parameter) -> Value<'a> {
        let name = parameter.name.as_str();
        if let Some(value) = parameter.annotation().and_then(annotated) {
            return value;
        }
        match name {
            "self" | "cls" | "ctx" => any(name),
            _ if self.asked.is_tensor(name) => open_tensor(None, None),
            _ if self.asked.is_size(name) => free(&Rc::default()),
            _ => Value::Unknown(format!("nobody says what `{name}` is").into()),
        }
    }

    /// A tensor, where the body or some function that it is handed to as it is takes it for one.
    pub(super) fn handed_on(&self, interp: &mut Interp<'a>, scope: &Rc<Scope<'a>>, name: &str, depth: u32) -> bool {
        let all: Vec<_> = self.asked.handed(name).take(HANDED).map(|of| (of.to, of.place, of.launches)).collect();
        self.asked.is_tensor(name)
            || all.into_iter().any(|(to, place, launches)| {
                let Ok(Some(to)) = interp.find_name(scope, to) else { return false };
                let Some(to) = Launcher::of(to).kernel() else { return false };
                let FunctionNode::Def(def) = to.def else { return false };
                let named =
                    |name: &str| def.parameters.iter_non_variadic_params().find(|param| param.name().as_str() == name);
                let param = match place {
                    Ok(at) => def.parameters.iter_non_variadic_params().nth(at),
                    Err(name) => named(name),
                };
                let Some(param) = param.map(|param| param.name().as_str()) else { return false };
                let inner = Parameters::of(&def.body);
                if launches {
                    return inner.asked.is_pointer(param);
                }
                inner.asked.is_tensor(param) || (depth > 0 && inner.handed_on(interp, &to.scope, param, depth - 1))
            })
    }

    /// Other values than its default that one of them may be given: a tensor that may be left out, a switch.
    pub(super) fn beside_default(parameter: &'a Parameter, default: &Value<'a>) -> Option<Value<'a>> {
        let said = parameter.annotation().and_then(annotated);
        match (default, said) {
            (Value::Bool(on), _) => Some(Value::Bool(!on)),
            (Value::None, Some(value)) => Some(value),
            _ => None,
        }
    }
}
