//! Every declaration is complete and agrees with itself.

use crate::{OpCode, OpCompletion, OpDecl, OpEffect, OpForm, table};

fn all() -> impl Iterator<Item = &'static OpDecl> {
    OpCode::all().into_iter().map(OpCode::decl)
}

#[test]
fn every_syntax_reads_and_no_op_is_declared_twice() {
    for (at, decl) in all().enumerate() {
        let row = table().find(decl.name);
        assert_eq!(row, Some(at), "{} does not read, or stands twice", decl.name);
        assert_eq!(OpCode::of_name(decl.name).map(|code| code.decl().name), Some(decl.name));
    }
    assert_eq!(all().count(), table().rows().len());
}

#[test]
fn every_op_has_a_line_of_documentation() {
    for decl in all() {
        let doc = decl.doc.trim();
        assert!(doc.len() > 4 && doc.ends_with('.') && !doc.contains('\n'), "{}: {doc:?}", decl.name);
    }
}

#[test]
fn every_op_with_a_memdesc_has_an_effect() {
    // In these dialects any operand may be one; what has none says so by an effect of its own.
    for decl in all().filter(|decl| decl.name.starts_with("ttg.")) {
        let pure = decl.effect == OpEffect::Pure;
        let words = decl.syntax.split('|').next().unwrap_or("").split_whitespace();
        let memory = words.clone().any(|word| matches!(word, "dst" | "alloc" | "barrier" | "barrier?"));
        assert!(!(pure && memory), "{} is declared pure and has `{}`", decl.name, decl.syntax);
    }
}

#[test]
fn what_a_declaration_names_its_syntax_has() {
    for decl in all() {
        let row = table().row(table().find(decl.name).unwrap_or(0));
        let groups: Vec<&str> = row.operands.iter().chain(&row.results).map(|group| group.name).collect();
        let mut named: Vec<&str> = decl.barrier.iter().map(|barrier| barrier.group).collect();
        if let OpEffect::Memory { accesses, completion, .. } = decl.effect {
            named.extend(accesses.iter().map(|access| access.group));
            if let OpCompletion::Transaction { barrier, of } = completion {
                named.extend([barrier, of]);
            }
        }
        if let OpEffect::ClcRequest { result, barrier } = decl.effect {
            named.extend([result, barrier]);
        }
        for name in named {
            assert!(groups.contains(&name), "{} has no operand group `{name}`", decl.name);
        }
        assert!(decl.effect != OpEffect::Unmodelled(""), "{} has no reason", decl.name);
        let reads = !matches!(row.form, OpForm::Skimmed);
        assert!(reads || decl.barrier.is_none(), "{} has a barrier and is skimmed", decl.name);
    }
}
