//! Running host code up to one launch.

use std::rc::Rc;

use super::assume;
use super::case::{Case, Cases, soft};
use super::code::Code;
use super::parameter::Parameters;
use super::thing::{HostLaunch, Session, any};
use crate::interp::{Interp, Stop};
use crate::library::Args;
use crate::limits::tests::WAYS;
use crate::origin::FileId;
use crate::specialization::Host;
use crate::syntax::bodies::main_block;
use crate::value::{Class, Function, FunctionNode, Role, Value};
use base::ways::Ways;

/// What stands for the place of the statements of a file that are in no function, as [`Host::def`].
pub const MODULE: u32 = u32::MAX;

/// What came of a run.
#[derive(Debug)]
pub struct Ran<'a> {
    /// Launches that were made before it ended, however it did.
    pub launches: Vec<HostLaunch<'a>>,
    /// Why it ended early, if it did.
    pub why: Option<Rc<str>>,
    /// The ways that it took where a condition was not known.
    pub ways: Vec<bool>,
    /// Whether it went on with what was assumed.
    pub assumed: bool,
}

/// The launch that a specialisation means of the kernel at `def` in the elaboration's first file, which is
/// open and run.
///
/// # Errors
///
/// Where the host function is not there, or does not launch the kernel that often.
pub fn reach<'a>(interp: &mut Interp<'a>, host: &Host, def: u32) -> Result<HostLaunch<'a>, Stop> {
    let file = match &host.file {
        None => FileId(0),
        Some(path) => {
            let from = interp.files.first().map_or("", |file| file.module.path()).to_owned();
            let Some(module) = interp.sources.file(&from, path) else {
                return interp.unknown(format!("there is no file {path}"));
            };
            let file = interp.add_file(module);
            if host.def == MODULE {
                interp.run_file(file)?;
            } else {
                interp.open_file(file);
            }
            file
        }
    };
    if host.def == MODULE {
        let launches = interp.session.as_mut().map(|session| std::mem::take(&mut session.launches));
        let mut own = launches.unwrap_or_default().into_iter().filter(|launch| is_at(launch, def));
        return match own.nth(host.launch as usize) {
            Some(launch) => Ok(launch),
            None => interp.unknown("the file is not followed up to this kernel's launch"),
        };
    }
    let Some(code) = code_at(interp, file, host.def)? else {
        return interp.unknown("the function that launches this kernel is not found");
    };
    let cases = Cases::of(interp, &code)?;
    let mut named = cases.case(host.case.unwrap_or(0) as usize);
    if let Code::Function(function, _) = &code {
        for (name, text) in &host.arguments {
            let value = interp.evaluate_text(&function.scope, text)?;
            match named.iter_mut().find(|(known, _)| **known == **name) {
                Some((_, slot)) => *slot = value,
                None => named.push((name.as_str().into(), value)),
            }
        }
    }
    let ran = run(interp, &code, named, &host.ways, host.assumed)?;
    let mut own = ran.launches.into_iter().filter(|launch| is_at(launch, def));
    match own.nth(host.launch as usize) {
        Some(launch) => Ok(launch),
        None => interp.unknown(format!("`{}` is not followed up to this kernel's launch", code.name())),
    }
}

/// Whether a launch is of the kernel at `def` in the first file.
fn is_at(launch: &HostLaunch<'_>, def: u32) -> bool {
    launch.function.scope.file == FileId(0) && launch.function.def.range().start == def
}

/// Runs host code, by these ways where a condition is not known; with `assume`, sizes that are not known are
/// assumed.
///
/// # Errors
///
/// Where the elaboration ends altogether.
pub fn run<'a>(
    interp: &mut Interp<'a>,
    code: &Code<'a>,
    named: Case<'a>,
    ways: &[bool],
    assume: bool,
) -> Result<Ran<'a>, Stop> {
    let session = Session { ways: Some(Ways::of(ways, WAYS)), assume, ..Session::default() };
    let outer = interp.session.replace(session);
    let named = match assume {
        true => named.into_iter().map(|(name, value)| (name.clone(), assume::argument(interp, &name, value))).collect(),
        false => named,
    };
    let ran = match code {
        Code::Function(function, class) => call(interp, function, class.as_ref(), named),
        Code::Main(file, body) => interp.run_body(*file, body).map(|()| Value::None),
    };
    let session = std::mem::replace(&mut interp.session, outer).unwrap_or_default();
    let why = match ran {
        Ok(Value::Unknown(why)) | Err(Stop::Unknown(_, why) | Stop::Raised(_, why) | Stop::Deep(_, why)) => Some(why),
        Ok(_) => None,
        Err(stop) => return Err(stop),
    };
    interp.forget_raised();
    let ways = session.ways.unwrap_or_default().into_taken();
    Ok(Ran { launches: session.launches, why, ways, assumed: session.assumed })
}

fn call<'a>(
    interp: &mut Interp<'a>,
    function: &Rc<Function<'a>>,
    class: Option<&Rc<Class<'a>>>,
    named: Case<'a>,
) -> Result<Value<'a>, Stop> {
    let at = interp.at;
    let mut args = Args { pos: Vec::new(), named };
    if let Some(class) = class {
        match function.role {
            Role::Static => {}
            Role::ClassMethod => args.pos.push(Value::Class(class.clone())),
            Role::Plain | Role::Property => args.pos.push(object(interp, class)?),
        }
    }
    interp.call(&Value::Function(function.clone()), args, at)
}

/// An object of a class that nobody makes one of.
fn object<'a>(interp: &mut Interp<'a>, class: &Rc<Class<'a>>) -> Result<Value<'a>, Stop> {
    let mut named = Vec::new();
    let init = class.scope.own("__init__");
    if let Some(Value::Function(init)) = &init
        && let FunctionNode::Def(def) = init.def
    {
        let parameters = Parameters::of(&def.body);
        for (at, param) in def.parameters.iter_non_variadic_params().enumerate().skip(1) {
            if init.defaults.get(at).is_none_or(Option::is_none) {
                named.push((param.name().as_str().into(), parameters.value(&param.parameter)));
            }
        }
    }
    let at = interp.at;
    let made = soft(interp.call(&Value::Class(class.clone()), Args { pos: Vec::new(), named }, at))?;
    Ok(match made {
        Some(made @ Value::Instance(_)) => made,
        _ => any("self"),
    })
}

/// Host code of a file, by where its statement starts: a function, a method, or the block of the main program.
///
/// # Errors
///
/// Where the elaboration ends altogether.
pub fn code_at<'a>(interp: &mut Interp<'a>, file: FileId, def: u32) -> Result<Option<Code<'a>>, Stop> {
    if let Some(main) = main_at(interp, file, def) {
        return Ok(Some(main));
    }
    interp.run_around(file, def)?;
    Ok(function_at(interp, file, def))
}

fn main_at<'a>(interp: &Interp<'a>, file: FileId, def: u32) -> Option<Code<'a>> {
    let of = interp.files.get(file.0 as usize)?;
    let main = of.module.body().iter().find_map(|stmt| main_block(stmt).filter(|_| Interp::range(stmt).start == def));
    main.map(|body| Code::Main(file, body))
}

fn function_at<'a>(interp: &Interp<'a>, file: FileId, def: u32) -> Option<Code<'a>> {
    let of = interp.files.get(file.0 as usize)?;
    let function = interp.host_function_at(file, def)?;
    let names = of.scope.names.borrow();
    let class = names.iter().find_map(|(_, value)| match value {
        Value::Class(class) => {
            let inside = class.scope.names.borrow();
            let own = |value: &Value<'a>| matches!(value, Value::Function(own) if Rc::ptr_eq(own, &function));
            inside.iter().any(|(_, value)| own(value)).then(|| class.clone())
        }
        _ => None,
    });
    Some(Code::Function(function, class))
}
