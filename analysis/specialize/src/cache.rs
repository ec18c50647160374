//! Recipes out of what Triton compiled before: the TTGIR in its cache, which names the kernel's file and
//! line, its parameters that are no constexprs, and what it was compiled for.
//!
//! Constexprs are not in there; they come from the other sources.

use super::{Recipe, Target};
use python::value::DType;

/// The recipe of a compiled kernel; `None` where the text has no function with locations.
pub fn recipe(ttgir: &str) -> Option<Recipe> {
    let at = ttgir.find("tt.func public @")?;
    let head = ttgir.get(at..)?;
    let open = head.find('(')?;
    let arguments = bracketed(head.get(open..)?)?;
    let mut types = Vec::new();
    let mut location = None;
    for (_, argument) in super::directive::pieces(arguments) {
        let Some((_, rest)) = argument.trim().split_once(": ") else { continue };
        let Some((ty, named)) = rest.rsplit_once(" loc(\"") else { continue };
        let Some((name, of)) = named.split_once('"') else { continue };
        location = location.or_else(|| of.strip_prefix('(')?.split(')').next());
        // Shapes and strides of a descriptor, and elements of tuples.
        if name.contains('.') {
            continue;
        }
        let ty = ty.split(" {").next().unwrap_or(ty);
        types.push((name.to_owned(), signature(ttgir, ty)?));
    }
    let (file, line) = place(ttgir, location.unwrap_or("#loc"))?;
    let number = |name: &str| {
        let rest = ttgir.get(ttgir.find(name)? + name.len()..)?;
        let digits: String = rest.trim_start_matches(" = ").chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let target = quoted(ttgir, "ttg.target = \"").and_then(|name| Target::named(name.trim_start_matches("hip:")));
    Some(Recipe {
        file: file.to_owned(),
        line,
        types,
        target,
        num_warps: number("\"ttg.num-warps\""),
        num_ctas: number("\"ttg.num-ctas\""),
    })
}

/// What stands between the bracket that the text starts with and the one that closes it.
fn bracketed(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return text.get(1..at);
                }
            }
            _ => {}
        }
    }
    None
}

fn quoted<'t>(text: &'t str, before: &str) -> Option<&'t str> {
    let rest = text.get(text.find(before)? + before.len()..)?;
    rest.split('"').next()
}

/// File and line of a location, by its alias.
fn place<'t>(text: &'t str, alias: &str) -> Option<(&'t str, u32)> {
    let define = format!("{alias} = loc(");
    let line = text.lines().find(|line| line.starts_with(&define))?;
    let inner = line.strip_prefix(&define)?.strip_prefix('"')?;
    let (file, rest) = inner.split_once('"')?;
    let line = rest.strip_prefix(':')?.split(':').next()?;
    Some((file, line.parse().ok()?))
}

/// A type of the IR in the notation of signatures.
fn signature(text: &str, ty: &str) -> Option<String> {
    if let Some(inner) = ty.strip_prefix("!tt.ptr<") {
        let element = inner.split([',', '>']).next()?;
        return Some(format!("*{}", element_type(element)?));
    }
    for (ours, theirs) in [("tensordesc", "!tt.tensordesc<"), ("tensordesc_im2col", "!ttng.tensordesc_im2col<")] {
        let Some(inner) = ty.strip_prefix(theirs).and_then(|inner| inner.strip_suffix('>')) else { continue };
        let inner = inner.strip_prefix("tensor<").map_or(inner, |inner| inner.trim_end_matches('>'));
        let (shaped, layout) = inner.split_once(", ").map_or((inner, None), |(shaped, layout)| (shaped, Some(layout)));
        let (sizes, element) = shaped.rsplit_once('x')?;
        let sizes: Vec<&str> = sizes.split('x').collect();
        let element = element_type(element)?;
        let layout = layout.and_then(|alias| nvmma(text, alias, sizes.len()));
        let layout = layout.map_or(String::new(), |layout| format!(",{layout}"));
        return Some(format!("{ours}<{element}[{}]{layout}>", sizes.join(", ")));
    }
    element_type(ty).map(str::to_owned)
}

fn element_type(ty: &str) -> Option<&'static str> {
    DType::from_ir(ty).map(DType::name_in_signatures)
}

/// A layout for NVIDIA's matrix units, as Gluon writes it.
fn nvmma(text: &str, alias: &str, rank: usize) -> Option<String> {
    let define = format!("{alias} = #ttg.nvmma_shared<{{");
    let fields = text.lines().find_map(|line| line.strip_prefix(&define))?;
    let field = |name: &str| {
        let rest = fields.get(fields.find(name)? + name.len()..)?.strip_prefix(" = ")?;
        Some(rest.split([',', '}']).next()?.trim())
    };
    let truth = |name: &str| if field(name) == Some("true") { "True" } else { "False" };
    let cga = fields.find("CGALayout = [[").and_then(|at| {
        let rest = fields.get(at + "CGALayout = ".len()..)?;
        rest.get(..rest.find("]]")? + 2)
    });
    Some(format!(
        "NVMMASharedLayout(swizzle_byte_width={}, element_bitwidth={}, rank={rank}, transposed={}, fp4_padded={}, cga_layout={})",
        field("swizzlingByteWidth")?,
        field("elementBitWidth")?,
        truth("transposed"),
        truth("fp4Padded"),
        cga.unwrap_or("[]"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_kernel() {
        let text = "#loc1 = loc(\"/home/me/k.py\":12:1)\n\
            #shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>\n\
            module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 8 : i32, ttg.target = \"cuda:100\"} {\n\
            tt.func public @k(%out: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(\"out\"(#loc1)), %n: i32 loc(\"n\"(#loc1)), \
            %d: !tt.tensordesc<128x64xf16, #shared> loc(\"d\"(#loc1)), %d.shape.0: i32 loc(\"d.shape.0\"(#loc1))) attributes {noinline = false} {\n";
        let recipe = recipe(text).unwrap();
        assert_eq!((recipe.file.as_str(), recipe.line), ("/home/me/k.py", 12));
        assert_eq!((recipe.num_warps, recipe.num_ctas, recipe.target), (Some(8), Some(2), Some(Target::Cuda(100))));
        let types: Vec<String> = recipe.types.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let layout = "NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, transposed=False, \
                      fp4_padded=False, cga_layout=[[1, 0]])";
        let expected = ["out: *fp16".to_owned(), "n: i32".to_owned(), format!("d: tensordesc<fp16[128, 64],{layout}>")];
        assert_eq!(types, expected);
    }
}
