//! What host code is let go on with where it is given nothing: sizes by their names, one type for all tensors.
//!
//! A layout that a helper makes of a block's sizes cannot be chosen apart from them. So that both fit, the sizes are
//! assumed where the host code first asks for them, and what it launches then is said to be chosen.

use super::thing::{OpenNumber, OpenTensor, Thing};
use crate::interp::Interp;
use crate::value::Value;

/// Elements along a dimension of a tensor.
const SIZE: i128 = 128;

/// The type of a tensor, by torch's name.
const DTYPE: &str = "float16";

/// A number by what it is called; `None` where the name says nothing.
fn by_name(name: &str) -> Option<i128> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Some(match () {
        () if has(&["warps"]) => 4,
        () if has(&["ctas", "split", "waves_per", "kpack", "factor", "cluster"]) => 1,
        () if has(&["stages", "buffers", "depth", "slots"]) => 2,
        () if has(&["group"]) => 8,
        () if has(&["block", "tile", "dim", "size"]) => SIZE,
        () => return None,
    })
}

impl<'a> Interp<'a> {
    /// Whether host code goes on with what is assumed.
    pub(crate) fn assumes(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.assume)
    }

    /// A number that is assumed for something of this name.
    pub(crate) fn assumed(&mut self, name: &str) -> Option<Value<'a>> {
        let session = self.session.as_mut().filter(|session| session.assume)?;
        let number = by_name(name)?;
        session.assumed = true;
        Some(Value::Int(number))
    }

    /// A size of a tensor that is assumed.
    pub(crate) fn assumed_size(&mut self) -> Option<Value<'a>> {
        let session = self.session.as_mut().filter(|session| session.assume)?;
        session.assumed = true;
        Some(Value::Int(SIZE))
    }
}

/// An argument that a function is called with where that is assumed.
pub(super) fn argument<'a>(interp: &mut Interp<'a>, name: &str, value: Value<'a>) -> Value<'a> {
    let Value::Host(thing) = &value else {
        return match value {
            Value::Unknown(_) => interp.assumed(name).unwrap_or(value),
            value => value,
        };
    };
    match &**thing {
        Thing::OpenNumber(OpenNumber::Int, _) => interp.assumed(name).unwrap_or(value),
        Thing::OpenTensor(tensor) if tensor.dtype.is_none() => {
            if let Some(session) = &mut interp.session {
                session.assumed = true;
            }
            let tensor = OpenTensor { dtype: Some(DTYPE.into()), ..tensor.clone() };
            Value::Host(std::rc::Rc::new(Thing::OpenTensor(tensor)))
        }
        _ => value,
    }
}
