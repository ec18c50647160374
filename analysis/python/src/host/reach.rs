//! Running host code up to one launch.

use std::rc::Rc;

use super::case::Cases;
use super::thing::{Launch, Session};
use crate::interp::{Interp, Stop};
use crate::library::Args;
use crate::origin::FileId;
use crate::specialization::Host;
use crate::value::{Function, Value};

/// The launch that a specialisation means of the kernel at `def` in the elaboration's first file, which is
/// open and run.
///
/// # Errors
///
/// Where the host function is not there, or does not launch the kernel that often.
pub fn reach<'a>(interp: &mut Interp<'a>, host: &Host, def: u32) -> Result<Launch<'a>, Stop> {
    let file = match &host.file {
        None => FileId(0),
        Some(path) => {
            let from = interp.files.first().map_or("", |file| file.module.path()).to_owned();
            let Some(module) = interp.sources.file(&from, path) else {
                return interp.unknown(format!("there is no file {path}"));
            };
            let file = interp.add_file(module);
            interp.run_file(file)?;
            file
        }
    };
    let Some(function) = function_at(interp, file, host.def) else {
        return interp.unknown("the function that launches this kernel is not found");
    };
    let cases = Cases::of(interp, &function)?;
    let mut named = cases.case(host.case.unwrap_or(0) as usize);
    for (name, text) in &host.arguments {
        let value = interp.evaluate_text(&function.scope, text)?;
        match named.iter_mut().find(|(known, _)| **known == **name) {
            Some((_, slot)) => *slot = value,
            None => named.push((name.as_str().into(), value)),
        }
    }
    let (launches, _) = run(interp, &function, named)?;
    let mut own = launches.into_iter().filter(|launch| is_at(launch, def));
    match own.nth(host.launch as usize) {
        Some(launch) => Ok(launch),
        None => interp.unknown(format!("`{}` is not followed up to this kernel's launch", function.def.name())),
    }
}

/// Whether a launch is of the kernel at `def` in the first file.
fn is_at(launch: &Launch<'_>, def: u32) -> bool {
    launch.function.scope.file == FileId(0) && launch.function.def.range().start == def
}

/// Calls a host function and gives the launches that it made before it ended, however it did, and why it
/// ended early if it did.
///
/// # Errors
///
/// Where the elaboration ends altogether.
pub fn run<'a>(
    interp: &mut Interp<'a>,
    function: &Rc<Function<'a>>,
    named: Vec<(Rc<str>, Value<'a>)>,
) -> Result<(Vec<Launch<'a>>, Option<Rc<str>>), Stop> {
    let outer = interp.session.replace(Session::default());
    let at = interp.at;
    let ran = interp.call(&Value::Function(function.clone()), Args { pos: Vec::new(), named }, at);
    let session = std::mem::replace(&mut interp.session, outer);
    let why = match ran {
        Ok(Value::Unknown(why)) | Err(Stop::Unknown(_, why) | Stop::Raised(_, why)) => Some(why),
        Ok(_) => None,
        Err(stop) => return Err(stop),
    };
    Ok((session.unwrap_or_default().launches, why))
}

/// A function of a file's own scope, by where its statement starts.
pub fn function_at<'a>(interp: &Interp<'a>, file: FileId, def: u32) -> Option<Rc<Function<'a>>> {
    let scope = &interp.files.get(file.0 as usize)?.scope;
    let names = scope.names.borrow();
    names.iter().find_map(|(_, value)| match value {
        Value::Function(function) if function.scope.file == file && function.def.range().start == def => {
            Some(function.clone())
        }
        _ => None,
    })
}
