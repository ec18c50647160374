//! What a host function is called with by its tests: `pytest.mark.parametrize`, stacked ones too, fixtures
//! with and without parameters, and defaults.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall};

use super::code::Code;
use super::open::open_tensor;
use super::parameter::Parameters;
use super::thing::{Thing, any};
use crate::interp::{Interp, Stop};
use crate::library::Args;
use crate::limits::tests::{CONFTESTS, VALUES};
use crate::syntax::names::FIXTURES;
use crate::value::{Function, FunctionNode, Role, Value};

/// Names that get values together, and these.
#[derive(Clone, Debug)]
struct Dimension<'a> {
    names: Vec<Rc<str>>,
    values: Vec<Vec<Value<'a>>>,
}

/// One call's arguments.
pub type Case<'a> = Vec<(Rc<str>, Value<'a>)>;

/// All calls that the tests make of a function.
#[derive(Clone, Debug, Default)]
pub struct Cases<'a> {
    dimensions: Vec<Dimension<'a>>,
    /// Values that all calls share.
    fixed: Case<'a>,
    /// Parameters that nobody gives a value.
    pub open: Vec<Rc<str>>,
    /// Whether a mark says that it is skipped.
    pub skipped: bool,
}

impl<'a> Cases<'a> {
    /// Those of a function.
    ///
    /// # Errors
    ///
    /// Where the elaboration ends altogether.
    pub fn of(interp: &mut Interp<'a>, code: &Code<'a>) -> Result<Cases<'a>, Stop> {
        let mut cases = Cases::default();
        let Code::Function(function, class) = code else { return Ok(cases) };
        let FunctionNode::Def(def) = function.def else { return Ok(cases) };
        let parameters = Parameters::of(&def.body);
        for decorator in &def.decorator_list {
            let Expr::Call(call) = &decorator.expression else {
                cases.skipped |= mark(interp, function, &decorator.expression)?.as_deref() == Some("skip");
                continue;
            };
            match mark(interp, function, &call.func)?.as_deref() {
                Some("parametrize") => cases.parametrize(interp, function, call)?,
                Some("skip") => cases.skipped = true,
                Some("skipif") => {
                    if let Some(condition) = argument(call, 0, "condition") {
                        let value = soft(interp.evaluate(&function.scope, condition))?;
                        let known = value.as_ref().and_then(|value| interp.truth(value));
                        cases.skipped |= known == Some(true) && !matches!(value, Some(Value::Str(_)));
                    }
                }
                _ => {}
            }
        }
        let is_test = def.name.as_str().starts_with("test") || !cases.dimensions.is_empty();
        for (at, param) in def.parameters.iter_non_variadic_params().enumerate() {
            let name = param.name().as_str();
            let receiver = at == 0 && class.is_some() && function.role != Role::Static;
            if receiver || cases.gives(name) {
                continue;
            }
            if let Some(default) = function.defaults.get(at).cloned().flatten() {
                let mut other = Parameters::beside_default(&param.parameter, &default);
                let unsaid = other.is_none() && matches!(default, Value::None) && param.annotation().is_none();
                if unsaid && parameters.handed_on(interp, &function.scope, name, 2) {
                    other = Some(open_tensor(None, None));
                }
                if !is_test && let Some(other) = other {
                    let values = vec![vec![default], vec![other]];
                    cases.dimensions.push(Dimension { names: vec![name.into()], values });
                }
                continue;
            }
            let open = cases.open.len();
            cases.fixture(interp, function, name, 0)?;
            if cases.open.len() > open
                && let Some((_, value)) = cases.fixed.last_mut()
            {
                *value = parameters.value(&param.parameter);
                let is_unknown = matches!(value, Value::Unknown(_));
                if is_unknown && parameters.handed_on(interp, &function.scope, name, 2) {
                    *value = open_tensor(None, None);
                }
            }
        }
        Ok(cases)
    }

    fn gives(&self, name: &str) -> bool {
        let own = |names: &[Rc<str>]| names.iter().any(|known| **known == *name);
        self.dimensions.iter().any(|dimension| own(&dimension.names))
            || self.fixed.iter().any(|(known, _)| **known == *name)
    }

    fn parametrize(
        &mut self,
        interp: &mut Interp<'a>,
        function: &Rc<Function<'a>>,
        call: &'a ExprCall,
    ) -> Result<(), Stop> {
        let (Some(names), Some(values)) = (argument(call, 0, "argnames"), argument(call, 1, "argvalues")) else {
            return Ok(());
        };
        let Some(names) = soft(interp.evaluate(&function.scope, names))? else { return Ok(()) };
        let names: Vec<Rc<str>> = match &names {
            Value::Str(names) => {
                names.split(',').map(|name| name.trim().into()).filter(|name: &Rc<str>| !name.is_empty()).collect()
            }
            Value::List(_) | Value::Tuple(_) => {
                let items = interp.items(&names)?;
                items
                    .iter()
                    .filter_map(|name| if let Value::Str(name) = name { Some(name.clone()) } else { None })
                    .collect()
            }
            _ => return Ok(()),
        };
        let values = match soft(interp.evaluate(&function.scope, values))? {
            Some(values) => soft(interp.items(&values))?.unwrap_or_default(),
            None => Vec::new(),
        };
        let mut rows = Vec::new();
        for value in values.into_iter().take(VALUES) {
            let row = match &value {
                Value::Host(thing) => match &**thing {
                    Thing::Param(values) => values.clone(),
                    _ => vec![value],
                },
                _ if names.len() > 1 => soft(interp.items(&value))?.unwrap_or_default(),
                _ => vec![value],
            };
            if row.len() == names.len() {
                rows.push(row);
            }
        }
        if rows.is_empty() {
            let why = "the values of a parametrisation are not followed";
            rows.push(names.iter().map(|_| Value::Unknown(why.into())).collect());
        }
        self.dimensions.push(Dimension { names, values: rows });
        Ok(())
    }

    /// The value of a parameter that no mark gives.
    fn fixture(
        &mut self,
        interp: &mut Interp<'a>,
        function: &Rc<Function<'a>>,
        name: &str,
        depth: u32,
    ) -> Result<(), Stop> {
        if let Some(Value::Function(fixture)) = fixture_of(interp, function, name)?
            && let FunctionNode::Def(def) = fixture.def
            && depth < 4
        {
            let mut marked = None;
            for decorator in &def.decorator_list {
                let (path, call) = match &decorator.expression {
                    Expr::Call(call) => (&*call.func, Some(call)),
                    path => (path, None),
                };
                if mark(interp, &fixture, path)?.as_deref() == Some("fixture") {
                    marked = Some(call);
                }
            }
            if let Some(call) = marked {
                return self.of_fixture(interp, &fixture, name, call, depth);
            }
        }
        let value = match name {
            "device" => Value::Str("cuda".into()),
            _ if FIXTURES.contains(&name) => any("fixture"),
            _ => {
                self.open.push(name.into());
                Value::Unknown(format!("nobody says what `{name}` is").into())
            }
        };
        self.fixed.push((name.into(), value));
        Ok(())
    }

    fn of_fixture(
        &mut self,
        interp: &mut Interp<'a>,
        fixture: &Rc<Function<'a>>,
        name: &str,
        call: Option<&'a ExprCall>,
        depth: u32,
    ) -> Result<(), Stop> {
        let params = call.and_then(|call| call.arguments.find_keyword("params")).map(|word| &word.value);
        let params = match params {
            Some(expr) => soft(interp.evaluate(&fixture.scope, expr))?,
            None => None,
        };
        let params = match params {
            Some(params) => soft(interp.items(&params))?,
            None => None,
        };
        let FunctionNode::Def(def) = fixture.def else { return Ok(()) };
        let mut inner = Cases::default();
        for param in def.parameters.iter_non_variadic_params() {
            let own = param.name().as_str();
            if own != "request" && own != name {
                inner.fixture(interp, fixture, own, depth + 1)?;
            }
        }
        let takes_request = def.parameters.iter_non_variadic_params().any(|param| param.name().as_str() == "request");
        let mut run = |param: Option<Value<'a>>| -> Result<Value<'a>, Stop> {
            let mut named = inner.case(0);
            if takes_request {
                let request = param.map_or_else(|| any("fixture"), |param| Value::Host(Rc::new(Thing::Request(param))));
                named.push(("request".into(), request));
            }
            let args = Args { pos: Vec::new(), named };
            let value = soft(interp.call(&Value::Function(fixture.clone()), args, interp.at))?;
            Ok(value.unwrap_or_else(|| any("fixture")))
        };
        match params {
            Some(params) => {
                let mut values = Vec::new();
                for param in params.into_iter().take(VALUES) {
                    let param = match &param {
                        Value::Host(thing) => match &**thing {
                            Thing::Param(values) => values.first().cloned().unwrap_or(Value::None),
                            _ => param,
                        },
                        _ => param,
                    };
                    values.push(vec![run(Some(param))?]);
                }
                self.dimensions.push(Dimension { names: vec![name.into()], values });
            }
            None => {
                let value = run(None)?;
                let value = if matches!(value, Value::Unknown(_)) { any("fixture") } else { value };
                self.fixed.push((name.into(), value));
            }
        }
        Ok(())
    }

    /// How many calls there are.
    pub fn count(&self) -> usize {
        self.dimensions.iter().fold(1, |all: usize, dimension| all.saturating_mul(dimension.values.len()))
    }

    /// The arguments of one of them.
    pub fn case(&self, mut at: usize) -> Case<'a> {
        let mut case = self.fixed.clone();
        for dimension in &self.dimensions {
            let count = dimension.values.len().max(1);
            if let Some(values) = dimension.values.get(at % count) {
                case.extend(dimension.names.iter().cloned().zip(values.iter().cloned()));
            }
            at /= count;
        }
        case
    }

    /// At most `most` of the calls, spread so that each value of each parameter is in one where that can be.
    pub fn some(&self, most: usize) -> Vec<usize> {
        let count = self.count();
        if count <= most {
            return (0..count).collect();
        }
        // Each dimension goes through its values at a pace of its own, shifted when it comes round.
        let mut taken = Vec::with_capacity(most);
        for turn in 0..most.saturating_mul(4) {
            let (mut at, mut place) = (0usize, 1usize);
            let mut pace = 1usize;
            for dimension in &self.dimensions {
                let values = dimension.values.len().max(1);
                at = at.saturating_add((turn / pace + turn).checked_rem(values).unwrap_or(0).saturating_mul(place));
                place = place.saturating_mul(values);
                pace = pace.saturating_mul(values.max(2));
            }
            if at < count && !taken.contains(&at) {
                taken.push(at);
                if taken.len() == most {
                    break;
                }
            }
        }
        let rest = (0..count).filter(|at| !taken.contains(at)).take(most - taken.len());
        let rest: Vec<usize> = rest.collect();
        taken.extend(rest);
        taken.sort_unstable();
        taken
    }
}

/// What a name is in a test's file, or in a `conftest.py` of its folder or of one above it.
fn fixture_of<'a>(interp: &mut Interp<'a>, function: &Function<'a>, name: &str) -> Result<Option<Value<'a>>, Stop> {
    if let Some(own) = interp.find_name(&function.scope, name)? {
        return Ok(Some(own));
    }
    if FIXTURES.contains(&name) || !function.def.name().starts_with("test") {
        return Ok(None);
    }
    let Some(from) = interp.files.get(function.scope.file.0 as usize).map(|file| file.module.path().to_owned()) else {
        return Ok(None);
    };
    for above in 0..CONFTESTS {
        let path = format!("{}conftest.py", "../".repeat(above));
        let Some(module) = interp.sources.file(&from, &path) else { continue };
        let file = interp.add_file(module);
        interp.run_file(file)?;
        let found = interp.files.get(file.0 as usize).and_then(|file| file.scope.own(name));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The last part of the name of a mark, where the expression is one of pytest's.
fn mark<'a>(interp: &mut Interp<'a>, function: &Function<'a>, expr: &'a Expr) -> Result<Option<String>, Stop> {
    Ok(match soft(interp.evaluate(&function.scope, expr))? {
        Some(Value::Lib(path)) if path.starts_with("pytest") => path.rsplit('.').next().map(str::to_owned),
        _ => None,
    })
}

fn argument<'a>(call: &'a ExprCall, at: usize, name: &str) -> Option<&'a Expr> {
    call.arguments.args.get(at).or_else(|| call.arguments.find_keyword(name).map(|word| &word.value))
}

/// A result where one that is not known is none.
pub(super) fn soft<T>(result: Result<T, Stop>) -> Result<Option<T>, Stop> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Unknown(..) | Stop::Raised(..)) => Ok(None),
        Err(stop) => Err(stop),
    }
}
