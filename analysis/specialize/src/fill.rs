//! Gives the parameters that nobody gives: what the configuration says, then what the search finds; and the
//! combinations of what is worth an instance each.

use super::domain::{self, Open};
use super::entries::Param;
use super::instance::{Base, Instances};
use super::memo::Filled;
use super::search::{self, Search};
use super::spec_builder::{FileFlow, SpecBuilder};
use super::{Config, Entry, Given, ValueSource, directive};
use base::{Cancel, Cancelled};
use python::elaborated::Attempt;

/// Fills in the values of one kernel.
pub(super) struct Filler<'f> {
    file: &'f FileFlow<'f>,
    entry: &'f Entry,
    config: &'f Config,
    builder: SpecBuilder<'f>,
    search: Search<'f>,
}

/// A way to launch a kernel, with the likeliest values where nobody gives any.
struct Likeliest {
    base: Base,
    /// Parameters that nobody gives a value.
    open: Vec<Open>,
    /// Defaults that no launch is known to keep, and what a launch gives of which a part is not known: they hold
    /// unless they are refused.
    defaults: Vec<Open>,
    /// Tensors of which the launch's own code leaves open what they are of: they are of what was chosen for it, unless the
    /// kernel wants integers.
    assumed: Vec<Open>,
    configured: Vec<Varied>,
    /// Parameters that count what a wait leaves open.
    waits: Vec<String>,
}

/// A parameter with the values of which each is in some instance.
struct Varied {
    name: String,
    source: ValueSource,
    values: Vec<Given>,
}

impl<'f> Filler<'f> {
    pub(super) fn new(
        file: &'f FileFlow<'f>,
        entry: &'f Entry,
        config: &'f Config,
        builder: SpecBuilder<'f>,
        cancel: &'f Cancel<'f>,
    ) -> Filler<'f> {
        Filler { file, entry, config, builder, search: Search::new(file, entry, builder, cancel) }
    }

    /// One way to launch it as `base` says that is not refused, if one is found soon.
    pub(super) fn first(&mut self, base: Base) -> Result<Option<Base>, Cancelled> {
        let likeliest = self.likeliest(base);
        if likeliest.open.is_empty() {
            return Ok(Some(likeliest.base));
        }
        let open: Vec<&Open> = likeliest.open.iter().chain(&likeliest.defaults).collect();
        let (base, attempt) = self.search.settle(likeliest.base, &open)?;
        Ok(attempt.filter(search::accepted).map(|_| base))
    }

    /// All combinations for each of `bases`, what is to be said, and how many launches were left out.
    pub(super) fn fill(&mut self, bases: Vec<Base>) -> Result<Filled, Cancelled> {
        // What was tried for the first of them counts when it is tried again.
        self.search.begin_anew();
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        // Launches that are known in part, and the values for which are refused.
        let mut refused: Vec<(Vec<Base>, String)> = Vec::new();
        let in_part: Vec<bool> = bases.iter().map(|base| base.is_launched() && !base.partly.is_empty()).collect();
        let mut likeliest = bases.into_iter().map(|base| self.likeliest(base)).collect::<Vec<_>>().into_iter();
        for in_part in in_part {
            let rest = likeliest.as_slice().iter().filter(|next| !next.open.is_empty());
            self.search.try_ahead(rest.map(|next| &next.base))?;
            let Some(next) = likeliest.next() else { break };
            let (all, why) = self.of_launch(next, &mut notes)?;
            match why {
                Some(why) if in_part => refused.push((all, why)),
                _ => out.extend(all),
            }
        }
        let mut left_out = 0;
        if out.is_empty() {
            out.extend(refused.into_iter().flat_map(|(all, _)| all));
        } else if let Some((_, why)) = refused.first() {
            left_out = refused.len();
            notes.push(format!(
                "{} launches that are known in part are left out: no values were found for them that are not refused ({why})",
                refused.len()
            ));
        }
        notes.dedup();
        Ok((out, notes, left_out))
    }

    fn likeliest(&self, mut base: Base) -> Likeliest {
        let (target, warps) = {
            let spec = self.builder.spec(&base);
            (spec.target.0, spec.num_warps.0)
        };
        let (mut open, mut defaults, mut assumed, mut waits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let whole = base.is_launched() && base.partly.is_empty();
        let mut configured: Vec<Varied> = Vec::new();
        for param in &self.entry.params {
            if !base.lacks(param) {
                assumed.extend(Self::assumed(&base, param));
                if let Some(given) = Self::soft(&base, param).filter(|_| !whole) {
                    let facts = self.file.flow().of_parameter(self.entry.def, &param.name);
                    let mut of = domain::open(self.file.survey, self.entry.language, param, &facts, (target, warps));
                    of.default = Some(given);
                    defaults.push(of);
                }
                continue;
            }
            let settings = match param.name.as_str() {
                "num_warps" => base.num_warps,
                "num_ctas" => Some(base.num_ctas.unwrap_or((1, ValueSource::Default))),
                _ => None,
            };
            if let Some((number, source)) = settings.filter(|_| param.constexpr) {
                base.give(&param.name, Given::Value(number.to_string()), source);
                continue;
            }
            let named = self.config.values.iter().filter(|(name, _)| *name == param.name);
            let values: Vec<Given> = named
                .filter_map(|(_, value)| directive::given(value).ok())
                .map(|given| directive::fitting(Some(param), given))
                .collect();
            if let Some(first) = values.first() {
                base.give(&param.name, first.clone(), ValueSource::Configuration);
                configured.push(Varied { name: param.name.clone(), source: ValueSource::Configuration, values });
                continue;
            }
            let facts = self.file.flow().of_parameter(self.entry.def, &param.name);
            let mut of = domain::open(self.file.survey, self.entry.language, param, &facts, (target, warps));
            of.default = None;
            if let Some(partly) = base.partly(&param.name) {
                of.keep(partly, param);
            }
            if of.wait {
                waits.push(param.name.clone());
            }
            if let Some(first) = of.choices.first() {
                base.give(&param.name, first.clone(), ValueSource::Chosen);
            }
            open.push(of);
        }
        super::formulas::agree(&mut base, &mut open);
        Likeliest { base, open, defaults, assumed, configured, waits }
    }

    fn of_launch(
        &mut self,
        likeliest: Likeliest,
        notes: &mut Vec<String>,
    ) -> Result<(Vec<Base>, Option<String>), Cancelled> {
        let Likeliest { mut base, mut open, defaults, assumed, configured, waits } = likeliest;
        if !assumed.is_empty()
            && let Some(attempt) = self.search.attempt(&base)?
            && !search::accepted(&attempt)
        {
            let all: Vec<&Open> = assumed.iter().collect();
            if let (other, Some(attempt)) = self.search.settle(base.clone(), &all)?
                && search::accepted(&attempt)
            {
                base = other;
            }
        }
        notes.extend(waits.into_iter().map(|name| {
            format!("`{name}` counts what a wait leaves open and is never chosen; `# fencepost: {name}=…` decides this kernel")
        }));
        if open.is_empty() && configured.is_empty() {
            return Ok((vec![base], None));
        }
        let all: Vec<&Open> = open.iter().chain(&defaults).collect();
        let before = base.clone();
        let (settled, attempt) = if open.is_empty() { (base, None) } else { self.search.settle(base, &all)? };
        let attempt = match attempt {
            None if !open.is_empty() => self.search.combination(&settled)?,
            attempt => attempt,
        };
        if attempt.is_none() && !open.is_empty() {
            return Ok((vec![settled], Some("to look at all takes too long".to_owned())));
        }
        if let Some(attempt) = attempt.as_ref().filter(|attempt| !search::accepted(attempt)) {
            return Ok((vec![settled], Some(refusal(attempt))));
        }
        for argument in before.arguments.iter().filter(|argument| argument.source == ValueSource::Launch) {
            if let Some(now) = differs(&settled, &before, &argument.name) {
                let (Given::Value(text) | Given::Type(text)) = &argument.given;
                let name = &argument.name;
                notes.push(format!(
                    "a launch that is known in part gives `{name}` {text}, which is refused; {now} is analysed"
                ));
            }
        }
        let varied = self.varied(&settled, &open, configured);
        let all = self.combinations(&settled, &varied, notes);
        if open.is_empty() || all.len() < 2 {
            return Ok((all, None));
        }
        open.extend(defaults);
        Ok((self.verified(all, &settled, &open, &varied, notes)?, None))
    }

    /// What else a tensor can be of which it was chosen that it is of floats.
    fn assumed(base: &Base, param: &Param) -> Option<Open> {
        let given = base.arguments.iter().find(|argument| argument.name == param.name)?;
        let Given::Type(ty) = &given.given else { return None };
        let of_floats = ty.starts_with("*fp") || ty.starts_with("*bf");
        (given.source == ValueSource::Chosen && of_floats).then(|| Open {
            name: param.name.clone(),
            choices: Vec::new(),
            domain: ["*i32", "*i64"].map(|ty| Given::Type(ty.to_owned())).into(),
            wait: false,
            default: Some(given.given.clone()),
        })
    }

    /// What a parameter is given by its default, or by a launch that is known in part.
    fn soft(base: &Base, param: &Param) -> Option<Given> {
        match base.arguments.iter().find(|argument| argument.name == param.name) {
            Some(argument) => (argument.source == ValueSource::Launch).then(|| argument.given.clone()),
            None if base.holds(&param.name) => None,
            None => param.default.clone().map(Given::Value),
        }
    }

    /// What has several values, in the order of the parameters.
    fn varied(&self, settled: &Base, open: &[Open], configured: Vec<Varied>) -> Vec<Varied> {
        let value = |name: &str| settled.arguments.iter().find(|argument| argument.name == name);
        let chosen = open.iter().filter_map(|open| {
            let now = &value(&open.name)?.given;
            // What was found in the end comes first, the others where they are as good by themselves.
            let values = if open.choices.contains(now) { open.choices.clone() } else { vec![now.clone()] };
            Some(Varied { name: open.name.clone(), source: ValueSource::Chosen, values })
        });
        let mut all: Vec<Varied> = chosen.chain(configured).collect();
        all.sort_by_key(|varied| self.entry.params.iter().position(|param| param.name == varied.name));
        all
    }

    fn combinations(&self, settled: &Base, varied: &[Varied], notes: &mut Vec<String>) -> Vec<Base> {
        let mut all = vec![settled.clone()];
        let mut fixed = Vec::new();
        let mut combinations = 1usize;
        for of in varied {
            combinations = combinations.saturating_mul(of.values.len().max(1));
            if of.values.len() < 2 {
                continue;
            }
            if all.len() * of.values.len() > Instances::MOST {
                fixed.push(format!("`{}`", of.name));
                continue;
            }
            let given = |base: &Base, given: &Given| {
                let mut base = base.clone();
                base.give(&of.name, given.clone(), of.source);
                base
            };
            all = all.iter().flat_map(|base| of.values.iter().map(move |value| given(base, value))).collect();
        }
        if !fixed.is_empty() {
            notes.push(format!(
                "{combinations} combinations of chosen values would have to be analysed; {} of them are, with one value each for {}",
                all.len(),
                fixed.join(", ")
            ));
        }
        all
    }

    /// The combinations that are not refused; what the others need is searched for.
    fn verified(
        &mut self,
        all: Vec<Base>,
        settled: &Base,
        open: &[Open],
        varied: &[Varied],
        notes: &mut Vec<String>,
    ) -> Result<Vec<Base>, Cancelled> {
        let several: Vec<&str> = varied.iter().filter(|of| of.values.len() > 1).map(|of| of.name.as_str()).collect();
        let free: Vec<&Open> = open.iter().filter(|open| !several.contains(&open.name.as_str())).collect();
        let others = |base: &Base| -> String {
            let with: Vec<String> = several.iter().filter_map(|name| differs(base, settled, name)).collect();
            with.join(", ")
        };
        let followed = self.search.combination(settled)?.map_or(usize::MAX, |attempt| attempt.unmodelled.len());
        let mut out = Vec::new();
        let mut left: Vec<(String, String)> = Vec::new();
        let mut unseen = 0;
        for number in 0..all.len() {
            self.search.try_ahead(all.iter().skip(number))?;
            let Some(base) = all.get(number).cloned() else { break };
            if base == *settled {
                out.push(base);
                continue;
            }
            let asked = base.clone();
            let (base, attempt) = match self.search.settle(base, &free)? {
                (base, None) => {
                    let attempt = self.search.combination(&base)?;
                    (base, attempt)
                }
                settled => settled,
            };
            match attempt {
                None => unseen += 1,
                // Numbers that are accepted only beside others that leave less of the kernel to be followed. What a switch
                // turns on is looked at all the same.
                Some(attempt)
                    if base != asked
                        && attempt.unmodelled.len() > followed
                        && differs_in_numbers(&base, settled, &several) =>
                {
                    let why = attempt.unmodelled.first().map_or("", |(.., why)| why);
                    left.push((others(&base), format!("less of the kernel is followed: {why}")));
                }
                Some(attempt) if search::accepted(&attempt) => out.push(base),
                Some(attempt) => left.push((others(&base), refusal(&attempt))),
            }
        }
        if unseen > 0 {
            notes.push(format!("{unseen} combinations of chosen values are left out: to look at all takes too long"));
        }
        if let Some((with, why)) = left.first() {
            let more = if left.len() > 1 { format!(" and {} more", left.len() - 1) } else { String::new() };
            notes.push(format!("chosen values that are refused are left out: {with}{more} ({why})"));
        }
        Ok(out)
    }
}

/// Why values are not accepted.
fn refusal(attempt: &Attempt) -> String {
    let why = attempt.problems.iter().find(|problem| !problem.hint).map(|problem| problem.message.clone());
    why.unwrap_or_else(|| "it is not followed to the end".to_owned())
}

/// `name=value` where it is another one than that of `settled`.
fn differs(base: &Base, settled: &Base, name: &str) -> Option<String> {
    let value = |of: &Base| of.arguments.iter().find(|argument| argument.name == name).map(|of| of.given.clone());
    let (now, then) = (value(base)?, value(settled));
    let (Given::Value(text) | Given::Type(text)) = &now;
    (Some(&now) != then.as_ref()).then(|| format!("{name}={text}"))
}

/// Whether all that differs between two of several values is numbers.
fn differs_in_numbers(base: &Base, settled: &Base, several: &[&str]) -> bool {
    several.iter().filter(|name| differs(base, settled, name).is_some()).all(|name| {
        let given = base.arguments.iter().find(|of| of.name == **name).map(|of| &of.given);
        matches!(given, Some(Given::Value(text)) if text.parse::<i64>().is_ok())
    })
}
