//! Operators: who computes them.

use ruff_python_ast::Operator;

use crate::host;
use crate::interp::{Eval, Interp};
use crate::library::Args;
use crate::syntax::operators::{forward, reflected};
use crate::value::Value;

impl<'a> Interp<'a> {
    /// `a op b`.
    pub fn binary(&mut self, op: Operator, a: &Value<'a>, b: &Value<'a>) -> Eval<'a> {
        match (a, b) {
            (Value::Unknown(_), _) => return Ok(a.clone()),
            (_, Value::Unknown(_)) => return Ok(b.clone()),
            _ => {}
        }
        if let Some(number) = a.member_number() {
            return self.binary(op, &number, b);
        }
        if let Some(number) = b.member_number() {
            return self.binary(op, a, &number);
        }
        if matches!(a, Value::Host(_)) || matches!(b, Value::Host(_)) {
            return host::binary(self, Some(op), a, b);
        }
        if let Some(result) = self.overloaded(a, b, forward(op), reflected(op))? {
            return Ok(result);
        }
        match (a, b) {
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => self.arithmetic(op, a, b),
            _ => self.host_binary(op, a, b),
        }
    }

    /// An operator that an object's class defines.
    pub(super) fn overloaded(
        &mut self,
        a: &Value<'a>,
        b: &Value<'a>,
        forward: &str,
        reflected: &str,
    ) -> Result<Option<Value<'a>>, super::Stop> {
        for (owner, name, other) in [(a, forward, b), (b, reflected, a)] {
            if !matches!(owner, Value::Instance(_) | Value::Object(_)) {
                continue;
            }
            let Some(method) = self.find_attribute(owner, name)? else { continue };
            let args = Args { pos: vec![other.clone()], named: Vec::new() };
            let result = self.call(&method, args, self.at)?;
            if !matches!(&result, Value::Type(name) if &**name == "NotImplemented") {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }
}
