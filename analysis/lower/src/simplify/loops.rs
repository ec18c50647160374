//! Finds the loops: heads of retreating edges, their nesting, and what they count.

use rustc_hash::FxHashMap;

use super::flow::reverse_postorder;
use kernel::{BlockId, CmpOp, Instr, Kernel, LoopId, LoopInfo, Pure, Terminator, Var};

/// Rebuilds [`Kernel::loops`] for the heads that the frontend named and that still are ones.
///
/// Deviation: nesting comes from intervals of the reverse postorder, which is exact for reducible
/// control flow; Triton writes no other.
pub(super) fn find(kernel: &mut Kernel) {
    let order = reverse_postorder(kernel);
    let mut place = vec![u32::MAX; kernel.blocks.len()];
    for (at, id) in order.iter().enumerate() {
        place[id.index()] = at as u32;
    }
    let mut preds: Vec<Vec<BlockId>> = vec![Vec::new(); kernel.blocks.len()];
    for &id in &order {
        for target in kernel.block(id).terminator.targets() {
            preds[target.block.index()].push(id);
        }
    }
    let retreats = |from: &BlockId, head: BlockId| place[from.index()] >= place[head.index()];
    let known: FxHashMap<BlockId, LoopInfo> = kernel.loops.drain(..).map(|info| (info.head, info)).collect();
    let is_head =
        |head: &BlockId| known.contains_key(head) && preds[head.index()].iter().any(|from| retreats(from, *head));
    let heads: Vec<BlockId> = order.iter().copied().filter(is_head).collect();
    let number: FxHashMap<BlockId, usize> = heads.iter().enumerate().map(|(at, head)| (*head, at)).collect();

    // Innermost first: a found body is collapsed into its head.
    let mut owner: Vec<BlockId> = (0..kernel.blocks.len() as u32).map(BlockId).collect();
    let mut inside: Vec<Option<BlockId>> = vec![None; kernel.blocks.len()];
    let mut parents: Vec<Option<BlockId>> = vec![None; heads.len()];
    for &head in heads.iter().rev() {
        let mut work: Vec<BlockId> =
            preds[head.index()].iter().filter(|from| retreats(from, head)).map(|from| top(&mut owner, *from)).collect();
        while let Some(block) = work.pop() {
            if block == head || owner[block.index()] != block || place[block.index()] < place[head.index()] {
                continue;
            }
            owner[block.index()] = head;
            inside[block.index()] = Some(head);
            if let Some(&inner) = number.get(&block) {
                parents[inner] = Some(head);
            }
            work.extend(preds[block.index()].iter().map(|from| top(&mut owner, *from)));
        }
    }

    let defs = definitions(kernel);
    let mut loops = Vec::with_capacity(heads.len());
    for (at, &head) in heads.iter().enumerate() {
        let within = |block: BlockId| {
            let mut up = Some(block);
            while let Some(block) = up {
                if block == head {
                    return true;
                }
                up = inside[block.index()];
            }
            false
        };
        let Some(mut info) = known.get(&head).cloned() else { continue };
        info.parent = parents[at].and_then(|parent| number.get(&parent)).map(|&parent| LoopId(parent as u32));
        if info.counted.is_none() {
            info.counted = counted(kernel, head, &preds[head.index()], &|from| retreats(from, head), &defs, &within);
        }
        loops.push(info);
    }
    kernel.loops = loops;
}

fn top(owner: &mut [BlockId], block: BlockId) -> BlockId {
    let mut end = block;
    while owner[end.index()] != end {
        end = owner[end.index()];
    }
    let mut at = block;
    while at != end {
        at = std::mem::replace(&mut owner[at.index()], end);
    }
    end
}

/// Block and operation of a variable; a parameter has no operation.
pub(super) type Def = (BlockId, Option<Pure<Var>>);

/// The definition of each scalar and parameter.
pub(super) fn definitions(kernel: &Kernel) -> Vec<Option<Def>> {
    let mut defs = vec![None; kernel.vars.len()];
    for (at, block) in kernel.blocks.iter().enumerate() {
        let id = BlockId(at as u32);
        for param in &block.params {
            defs[param.index()] = Some((id, None));
        }
        for instr in &block.instrs {
            if let Instr::Let(dst, pure) = instr {
                defs[dst.index()] = Some((id, Some(*pure)));
            }
        }
    }
    defs
}

/// `head(iv): branch (iv < upper) body exit`, entered with `lower` once, with `iv + step` else.
fn counted(
    kernel: &Kernel,
    head: BlockId,
    preds: &[BlockId],
    retreats: &dyn Fn(&BlockId) -> bool,
    defs: &[Option<Def>],
    within: &dyn Fn(BlockId) -> bool,
) -> Option<(Var, Var, Var, Var)> {
    let block = kernel.block(head);
    let Terminator::Branch(condition, yes, no) = &block.terminator else { return None };
    if !within(yes.block) || within(no.block) {
        return None;
    }
    let pure = |var: Var| defs[var.index()].and_then(|(_, pure)| pure);
    let fixed = |var: Var| defs[var.index()].is_some_and(|(at, _)| !within(at));
    let Pure::Cmp(CmpOp::Slt | CmpOp::Ult, width, iv, upper) = pure(*condition)? else { return None };
    let at = block.params.iter().position(|param| *param == iv)?;
    let mut lower = None;
    let mut step = None;
    for pred in preds {
        for target in kernel.block(*pred).terminator.targets().iter().filter(|target| target.block == head) {
            let arg = *target.args.get(at)?;
            let slot = if retreats(pred) {
                let Pure::Add(add, a, b) = pure(arg)? else { return None };
                (a == iv && add == width).then_some((&mut step, b))?
            } else {
                (&mut lower, arg)
            };
            if slot.0.replace(slot.1).is_some_and(|before| before != slot.1) {
                return None;
            }
        }
    }
    let (lower, step) = (lower?, step?);
    [lower, upper, step].into_iter().all(fixed).then_some((iv, lower, upper, step))
}
