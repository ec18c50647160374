//! Functions: `tt.func`, `func.func`, `llvm.func`.

use super::attr::Attrs;
use super::op::Draft;
use super::region::Arg;
use super::{Parsed, Parser};
use crate::ids::{AttrId, Slice, TypeId};
use dialects::Llvm;

impl Parser<'_> {
    /// `[visibility] @name(args) [-> results] [attributes {…}] [{ body }]`.
    pub(super) fn func(&mut self, d: &mut Draft) -> Parsed {
        // A brace is missing above.
        self.unbalanced |= self.functions > 0;
        self.functions += 1;
        let read = self.signature_and_body(d);
        self.functions -= 1;
        read
    }

    fn signature_and_body(&mut self, d: &mut Draft) -> Parsed {
        while self.peek() != b'@' {
            let start = self.pos;
            let word = self.peek_word();
            if word.is_empty() {
                return Err(self.expected("a function's name"));
            }
            let visibility = matches!(word, "public" | "private" | "nested");
            let mangled = d.spec.is_some_and(|spec| spec.code == Llvm::Func.into());
            if !visibility && !mangled {
                return Err(self.expected("a function's name"));
            }
            self.bump(word.len());
            if visibility {
                let attr = self.attr_since(start);
                self.name_attr(&mut d.attrs, "sym_visibility", attr);
            }
        }
        let start = self.pos;
        self.symbol()?;
        let name = self.attr_since(start);
        self.name_attr(&mut d.attrs, "sym_name", name);
        let mut args = Vec::new();
        self.func_args(d, &mut args)?;
        if self.eat_arrow() {
            let types = self.func_results()?;
            let first = self.store.signatures.len();
            self.store.signatures.extend(types);
            self.store.ops[d.op.index()].signature = Slice::since(first, self.store.signatures.len());
        }
        if d.spec.is_some_and(|spec| spec.code == Llvm::Func.into()) {
            while self.peek() != b'{' && !self.newline && self.peek_word() != "attributes" && self.peek_word() != "loc"
            {
                if self.at_end() {
                    return Ok(());
                }
                if self.peek() == b'(' {
                    self.loose_brackets()?;
                } else {
                    self.bump_any();
                }
            }
        }
        if self.eat_word("attributes") {
            self.dict(&mut d.attrs)?;
        }
        if self.peek() == b'{' {
            self.end_header(d);
            let region = self.region(d.op, true, &args)?;
            d.regions.push(region);
        }
        d.all_results = Some(Vec::new());
        Ok(())
    }

    fn func_args(&mut self, d: &mut Draft, args: &mut Vec<Arg>) -> Parsed {
        self.expect(b'(')?;
        if self.eat(b')') {
            return Ok(());
        }
        loop {
            if self.peek() == b'.' {
                self.bump(3);
                return self.expect(b')');
            }
            let mut attrs = AttrId { start: 0, end: 0 };
            if self.peek() == b'%' {
                let mut arg = self.block_arg_name()?;
                self.expect(b':')?;
                arg.ty = self.ty()?;
                self.arg_attrs(&mut attrs)?;
                self.trailing_location()?;
                args.push(arg);
            } else {
                let start = self.pos as u32;
                let ty = self.ty()?;
                self.arg_attrs(&mut attrs)?;
                self.trailing_location()?;
                args.push(Arg { sym: super::Sym::NONE, start, end: start, ty });
            }
            d.args.push(attrs);
            if !self.eat(b',') {
                return self.expect(b')');
            }
        }
    }

    /// The attribute dictionary of an argument, if there is one.
    fn arg_attrs(&mut self, attrs: &mut AttrId) -> Parsed {
        if self.peek() == b'{' {
            let start = self.pos;
            self.dict(&mut Attrs::new())?;
            *attrs = self.attr_since(start);
        }
        Ok(())
    }

    fn func_results(&mut self) -> Parsed<Vec<TypeId>> {
        let mut types = Vec::new();
        if self.peek() != b'(' {
            types.push(self.ty()?);
            return Ok(types);
        }
        self.bump(1);
        if self.eat(b')') {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            self.arg_attrs(&mut AttrId { start: 0, end: 0 })?;
            if !self.eat(b',') {
                self.expect(b')')?;
                return Ok(types);
            }
        }
    }
}
