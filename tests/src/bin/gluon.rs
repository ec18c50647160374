//! Kernels in Python beside what Triton makes of them: `gluon [--ir] [--root FOLDER …] RECIPES.json …`.
//!
//! A recipe file is a list of captured launches: `file`, `first_line`, `def_line`, `args`, `host`, `target`,
//! `num_warps`, `num_ctas`, `version`, and `ttgir`, the compiled file, where there is one. Prints a JSON
//! object a line: what the Python gives, what the compiled text gives, and what they differ in.

use fencepost_tests::gluon::both::{Judged, Side, compiled_side, disagreement, python_side, same_kernel};
use fencepost_tests::gluon::files::Disk;
use fencepost_tests::gluon::{module, recipe};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let mut roots = Vec::new();
    let (mut recipes, mut ir) = (Vec::new(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--ir" => ir = true,
            "--root" => roots.extend(words.next().map(PathBuf::from)),
            _ => recipes.push(word),
        }
    }
    let files = Disk::new(roots);
    for path in recipes {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let Ok(Value::Array(list)) = serde_json::from_str(&text) else {
            eprintln!("{path} is no list of recipes");
            return ExitCode::FAILURE;
        };
        for recipe in &list {
            println!("{}", one(&files, recipe, ir));
        }
    }
    ExitCode::SUCCESS
}

fn one(files: &Disk, json: &Value, ir: bool) -> Value {
    let text = |key: &str| json.get(key).and_then(Value::as_str);
    let def = json.get("def_line").and_then(Value::as_u64).unwrap_or(0) as u32;
    let started = Instant::now();
    let python = text("file").ok_or("no file".to_owned()).and_then(|path| {
        let module = module(Path::new(path))?;
        let spec = recipe::of_launch(&module, json).ok_or("the recipe is incomplete")?;
        python_side(&module, files, &spec)
    });
    let spent = started.elapsed().as_secs_f64() * 1e3;
    let compiled = text("ttgir").and_then(|path| std::fs::read_to_string(path).ok());
    let compiled = compiled.map(|text| compiled_side(&text, def));
    let mut out = json!({ "id": json.get("id"), "kernel": json.get("kernel"), "file": json.get("file"), "ms": spent });
    match &python {
        Err(message) => out["error"] = json!(message),
        Ok(python) => {
            out["python"] = judged(&python.side);
            out["notes"] = json!(python.notes);
            if ir {
                out["ir"] = json!(python.ir);
            }
            if let Some(compiled) = &compiled {
                out["differences"] = json!(disagreement(python, compiled));
                out["same"] = json!(same_kernel(python, compiled));
            }
        }
    }
    if let Some(compiled) = &compiled {
        out["compiled"] = judged(compiled);
    }
    out
}

fn judged(side: &Side) -> Value {
    let Judged { verdict, findings, reasons, .. } = &side.judged;
    let findings: Vec<Value> =
        findings.iter().map(|(kind, place)| json!([kind, place.as_ref().map(ToString::to_string)])).collect();
    json!({ "verdict": verdict, "findings": findings, "reasons": reasons, "events": side.events.len() })
}
