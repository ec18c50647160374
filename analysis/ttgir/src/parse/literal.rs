//! Numbers against the types they are given.

use super::{Parsed, Parser, SyntaxError};
use crate::ids::TypeId;
use crate::shape;
use base::TextRange;

/// What kinds of numbers a literal holds, and the shape of its lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Literal {
    /// Length of the lists by depth; empty for a splat.
    pub shape: Vec<i64>,
    /// Whether lists of one depth differ in length.
    pub ragged: bool,
    /// The first integer and the first number with a point.
    pub integer: Option<TextRange>,
    pub float: Option<TextRange>,
    /// Whether the elements are given as bytes or not at all.
    pub opaque: bool,
}

impl Parser<'_> {
    /// Checks a number or truth value from `start` to `end` against its type.
    pub(super) fn check_number(&mut self, start: usize, end: usize, ty: TypeId) {
        let element = self.element_text(ty);
        self.check_element(start, end, &element);
    }

    /// The element type of a shaped type, or the type itself; canonical.
    fn element_text(&self, ty: TypeId) -> String {
        let text = self.store.types.text(self.store.types.canon(ty));
        let shaped = text.starts_with("tensor<") || text.starts_with("vector<");
        match shape::shaped(text).filter(|_| shaped) {
            Some(s) => s.element.to_owned(),
            None => text.to_owned(),
        }
    }

    fn check_element(&mut self, start: usize, end: usize, element: &str) {
        let number = self.slice(start, end);
        let range = TextRange::new(start as u32, end as u32);
        let digits = number.strip_prefix('-').unwrap_or(number);
        let hex = digits.starts_with("0x");
        let pointed = !hex && number.contains('.');
        if is_float(element) && !pointed && !hex {
            let message = format!("a number of type `{element}` needs a decimal point");
            self.errors.push(SyntaxError::new(range, "literal", message));
        } else if is_integer(element) && pointed {
            let message = format!("a number of type `{element}` has no decimal point");
            self.errors.push(SyntaxError::new(range, "literal", message));
        } else if let Some(bits) = element.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok())
            && !hex
            && let Ok(value) = number.parse::<i128>()
            && bits < 127
            && !(-(1i128 << bits.saturating_sub(1))..1i128 << bits).contains(&value)
        {
            let message = format!("`{number}` does not fit into `{element}`");
            self.errors.push(SyntaxError::new(range, "literal", message));
        }
    }

    /// Checks the content of `dense<…>` or `array<…>` against its type.
    pub(super) fn check_literal(&mut self, literal: &Literal, ty: TypeId, at: TextRange) -> Parsed {
        let element = self.element_text(ty);
        if let Some(range) = literal.integer {
            self.check_element(range.start as usize, range.end as usize, &element);
        }
        if let Some(range) = literal.float {
            self.check_element(range.start as usize, range.end as usize, &element);
        }
        let text = self.store.types.text(self.store.types.canon(ty));
        if !text.starts_with("tensor<") && !text.starts_with("vector<") {
            return Ok(());
        }
        let dims = shape::shaped(text).map(|s| shape::dims(s.dims)).unwrap_or_default();
        let empty = literal.shape.is_empty() && literal.opaque && !dims.contains(&0);
        let wrong = literal.ragged || (!literal.shape.is_empty() && literal.shape != dims);
        if empty || (wrong && !literal.opaque) {
            let message = format!("the elements do not have the shape of `{text}`");
            return Err(self.error(SyntaxError::new(at, "literal", message)));
        }
        Ok(())
    }
}

fn is_float(element: &str) -> bool {
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    element.strip_prefix('f').is_some_and(digit) || element.starts_with("bf16") || element.starts_with("tf32")
}

fn is_integer(element: &str) -> bool {
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    element == "index" || ["i", "si", "ui"].iter().any(|p| element.strip_prefix(p).is_some_and(digit))
}
