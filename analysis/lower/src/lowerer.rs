//! The state of the lowering of one entry function, and what all its parts use.

use rustc_hash::{FxHashMap, FxHashSet};

use super::autows;
use super::build::Build;
use super::cluster::Ctas;
use super::executable::Hosts;
use super::exit::Exit;
use super::options::LoweringOptions;
use super::storage::Share;
use super::value::Val;
use super::warp_order::Warps;
use base::Message;
use kernel::{BufferId, EffectKind, InputId, Mode, Site, SiteId, Unmodelled, Var};
use ttgir::{OpId, Tree, ValueId};

/// The lowering of one entry function.
pub(crate) struct Lowerer<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) functions: &'t FxHashMap<&'t str, OpId>,
    pub(crate) build: Build,
    pub(crate) values: FxHashMap<ValueId, Val>,
    /// The input of each scalar that nothing computes.
    pub(crate) free: FxHashMap<ValueId, InputId>,
    /// Integers that tensors of one element hold, where memory carried them there.
    pub(crate) words: FxHashMap<ValueId, Var>,
    pub(crate) sites: FxHashMap<OpId, SiteId>,
    /// Ops whose operands are noted in their sites; an inlined function is lowered more than once.
    pub(crate) noted: FxHashSet<OpId>,
    /// What the module says of clusters.
    pub(crate) ctas: Ctas,
    /// The partition that is being lowered.
    pub(crate) partition: usize,
    /// What its thread knows of arefs and semaphores.
    pub(crate) hidden: autows::Hidden,
    /// Who executes what.
    pub(crate) tasks: autows::Tasks,
    /// The task that is being lowered, where tasks share a region.
    pub(crate) task: Option<usize>,
    /// Allocations that were made before the tasks started.
    pub(crate) stored: FxHashSet<OpId>,
    /// Storage that several allocations share, by `buffer.id` and whether it is tensor memory.
    pub(crate) packed: FxHashMap<(i64, bool), kernel::BufferId>,
    /// Ops on each token, by the op that makes it; filled when asked for.
    pub(crate) token_users: FxHashMap<OpId, Vec<OpId>>,
    /// Barriers of the tokens, by the op that makes them.
    pub(crate) tokens: FxHashMap<OpId, autows::Token>,
    /// The tile of the subtiled region that is being lowered.
    pub(crate) tile: usize,
    /// What is assumed of the text.
    pub(crate) options: LoweringOptions,
    /// The channels of a kernel whose tasks nothing orders yet.
    pub(crate) plan: Option<autows::Plan>,
    /// The op after which all CTAs meet because Triton makes them.
    pub(crate) rendezvous: Option<OpId>,
    pub(crate) unmodelled: Vec<Unmodelled>,
    pub(crate) said: FxHashSet<OpId>,
    /// Where the terminators of the regions around lead, innermost last.
    pub(crate) exits: Vec<Exit>,
    /// Functions that are being inlined.
    pub(crate) calls: Vec<OpId>,
    /// Calls that were inlined.
    pub(crate) inlined: u32,
    /// Values that some op takes, of the functions that are being lowered; filled when asked for.
    pub(crate) users: FxHashMap<ValueId, Vec<OpId>>,
    /// Values that asynchronous dots leave in registers, however they are handed on.
    pub(crate) results: FxHashSet<ValueId>,
    /// The numbers of such results, by the dot.
    pub(crate) numbered: FxHashMap<OpId, u32>,
    /// Barriers of the TMA loads that an aref or a semaphore lowers.
    pub(crate) loads: FxHashMap<OpId, kernel::Var>,
    /// Where allocations that share storage lie.
    pub(crate) shares: FxHashMap<OpId, Share>,
    /// Pointers through which the kernel writes global memory; filled when asked for.
    pub(crate) written: Option<FxHashSet<ValueId>>,
    /// Reads of words that the kernel writes itself, one for each time that an op is lowered: in each task and each call.
    pub(crate) rewritten: Vec<OpId>,
    /// Places of global memory that are followed, by the ops that access them.
    pub(crate) global_places: FxHashMap<OpId, Vec<(BufferId, Mode)>>,
    /// Threads of a warp.
    pub(crate) lanes: u32,
    /// How the warps of a partition run beside each other.
    pub(super) warps: Warps,
    /// What is collected where the kernel is lowered for execution.
    pub(crate) hosts: Option<Hosts>,
    pub(crate) depth: u32,
}

impl<'t> Lowerer<'t> {
    pub(crate) fn new(tree: &'t Tree, functions: &'t FxHashMap<&'t str, OpId>) -> Lowerer<'t> {
        Lowerer {
            tree,
            functions,
            build: Build::new(),
            values: FxHashMap::default(),
            free: FxHashMap::default(),
            words: FxHashMap::default(),
            sites: FxHashMap::default(),
            noted: FxHashSet::default(),
            ctas: Ctas::default(),
            partition: 0,
            hidden: autows::Hidden::default(),
            tasks: autows::Tasks::default(),
            task: None,
            stored: FxHashSet::default(),
            packed: FxHashMap::default(),
            token_users: FxHashMap::default(),
            tokens: FxHashMap::default(),
            tile: 0,
            options: LoweringOptions::default(),
            plan: None,
            rendezvous: None,
            unmodelled: Vec::new(),
            said: FxHashSet::default(),
            exits: Vec::new(),
            calls: Vec::new(),
            inlined: 0,
            users: FxHashMap::default(),
            results: FxHashSet::default(),
            numbered: FxHashMap::default(),
            loads: FxHashMap::default(),
            shares: FxHashMap::default(),
            written: None,
            rewritten: Vec::new(),
            global_places: FxHashMap::default(),
            lanes: 32,
            warps: Warps::default(),
            hosts: None,
            depth: 0,
        }
    }

    pub(crate) fn int_attr(&self, op: OpId, name: &str) -> Option<i64> {
        self.tree.attr(op, name).and_then(|attr| self.tree.attr_int(attr))
    }

    /// A unit attribute that is there, or a boolean one that is true.
    pub(crate) fn flag(&self, op: OpId, name: &str) -> bool {
        self.tree.attr(op, name).is_some_and(|attr| self.tree.attr_text(attr).trim() != "false")
    }

    /// The site of an op, made at first use.
    pub(crate) fn site(&mut self, op: OpId) -> SiteId {
        if let Some(&site) = self.sites.get(&op) {
            return site;
        }
        let tree = self.tree;
        let source = tree.loc(op).iter().map(|loc| format!("{}:{}", loc.file, loc.line)).collect();
        let site = self.build.site(Site {
            op: tree.op_name(op).to_owned(),
            name: tree.op_name_range(op),
            range: tree.op_header_range(op),
            operands: Vec::new(),
            source,
            call: None,
        });
        self.sites.insert(op, site);
        site
    }

    /// Says that `op` is not followed, once an op, and marks the place where it runs.
    pub(crate) fn unmodelled(&mut self, op: OpId, reason: impl Into<Message>) {
        let site = self.site(op);
        self.build.effect(site, None, EffectKind::Unmodelled);
        self.say(op, reason);
    }

    /// Says it without marking a place.
    pub(crate) fn say(&mut self, op: OpId, reason: impl Into<Message>) {
        if self.said.insert(op) {
            self.unmodelled.push(Unmodelled { range: self.tree.op_name_range(op), reason: reason.into() });
        }
    }
}
