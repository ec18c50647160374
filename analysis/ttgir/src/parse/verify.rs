//! What the table says of an operation beyond its form: fixed types, attributes that must be
//! there, shapes that must agree.

use super::op::Draft;
use super::{Parser, SyntaxError};
use crate::ids::{AttrId, TypeId};
use crate::shape;
use base::TextRange;
use dialects::{AttrRule, OpForm, OpSyntax, TypeRule};

impl Parser<'_> {
    /// Reports what the table forbids.
    pub(super) fn verify(&mut self, d: &Draft, spec: &'static OpSyntax, results: &[TypeId]) {
        for rule in &spec.attrs {
            self.verify_attr(d, spec, rule);
        }
        if matches!(spec.form, OpForm::Steps(_)) {
            self.verify_fixed(d, spec);
        }
        if spec.same_shape || spec.same_element {
            self.verify_shapes(d, spec, results);
        }
    }

    fn op_name(&self, d: &Draft) -> TextRange {
        let op = &self.store.ops[d.op.index()];
        TextRange::new(op.name_start, op.name_end)
    }

    fn verify_attr(&mut self, d: &Draft, spec: &'static OpSyntax, rule: &AttrRule) {
        let named = d.attrs.iter().find(|named| self.store.names.get(named.name) == rule.name);
        let Some(named) = named else {
            if rule.required {
                let message = format!("`{}` needs the attribute `{}`", spec.name, rule.name);
                self.errors.push(SyntaxError::new(self.op_name(d), "attribute", message));
            }
            return;
        };
        let attr: AttrId = named.attr;
        let text = self.attr_source(attr);
        let fits = match rule.ty {
            "bool" => matches!(text, "true" | "false") || text.ends_with("i1"),
            ty => text.split_once(':').map_or(ty == "i64", |(_, of)| of.trim() == ty),
        };
        if !fits && !text.starts_with('#') {
            let message = format!("`{}` has to be of type `{}`", rule.name, rule.ty);
            self.errors.push(SyntaxError::new(TextRange::new(attr.start, attr.end), "attribute", message));
        }
    }

    /// Types that the form spells although they are fixed.
    fn verify_fixed(&mut self, d: &Draft, spec: &'static OpSyntax) {
        // What was skimmed behind a mistake may have more than its op takes.
        let operands = d.operand_types.iter().filter_map(|(g, ty)| Some((spec.operands.get(*g as usize)?.rule, *ty)));
        let results = d.result_types.iter().filter_map(|(g, ty)| Some((spec.results.get(*g as usize)?.rule, *ty)));
        let wrong = operands.chain(results).find_map(|(rule, ty)| match rule {
            TypeRule::Fixed(text) if self.store.types.text(self.store.types.canon(ty)) != text => Some((text, ty)),
            _ => None,
        });
        if let Some((text, ty)) = wrong {
            let message = format!("`{}` has `{text}` here, not `{}`", spec.name, self.store.types.text(ty));
            self.errors.push(SyntaxError::new(self.op_name(d), "type-mismatch", message));
        }
    }

    fn verify_shapes(&mut self, d: &Draft, spec: &'static OpSyntax, results: &[TypeId]) {
        let types = d.uses.iter().map(|used| used.ty).chain(results.iter().copied());
        let mut first: Option<(String, String)> = None;
        for ty in types.filter_map(TypeId::some) {
            let text = self.store.types.text(self.store.types.canon(ty));
            let shaped =
                text.starts_with("tensor<") || text.starts_with("!ttg.memdesc<") || text.starts_with("vector<");
            let (dims, element) = match shape::shaped(text).filter(|_| shaped) {
                Some(s) => (s.dims, s.element),
                None => ("", text),
            };
            let Some((first_dims, first_element)) = &first else {
                first = Some((dims.to_owned(), element.to_owned()));
                continue;
            };
            let what = if spec.same_shape && dims != first_dims {
                "shape"
            } else if spec.same_element && element != first_element {
                "element type"
            } else {
                continue;
            };
            let message = format!("the operands and results of `{}` differ in their {what}", spec.name);
            self.errors.push(SyntaxError::new(self.op_name(d), "type-mismatch", message));
            return;
        }
    }
}
