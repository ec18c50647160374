//! NVWS: what automatic warp specialisation puts between its passes: arefs, semaphores, tokens, warp groups.

use crate::declare::dialect;
use crate::effect::{OpEffect, TokenOp};
use crate::facts::{MutationRole, PartitionHint};

const PHI: &str = "an op of one version only, whose stage no text says";

dialect! {
    /// Ops of NVWS, `nvws`.
    Nvws = "nvws", fallback OpEffect::Unknown;

    /// Makes an aref: slots of buffers that producers fill and consumers empty in turn.
    ArefCreate = "aref.create": "buffers* | result | %buffers @ : !<result |" { effect: OpEffect::ArefCreate };
    /// The buffers of the aref slot that a token stands for.
    ArefBuffer = "aref.buffer": "aref token:!ttg.async.token stage:i32? | buffers* | %aref ?{[ %stage ]} , %token @ : !<aref , !<token -> !results |" { effect: OpEffect::ArefBuffer };
    /// Waits until an aref slot is full and gives its buffers to a consumer.
    ArefGetEnter = "aref.get.enter": "aref stage:i32? phase:i32? | buffers* token:!ttg.async.token | %aref ?{[ %stage , %phase ]} @ : !<aref -> !results | sized" { effect: OpEffect::ArefEnter { put: false } };
    /// Gives an aref slot back when the named operations on it are done: it is empty.
    ArefGetExit = "aref.get.exit": "aref token:!ttg.async.token stage:i32? |  | %aref ?{[ %stage ]} , %token $async_ops @ : !<aref , !<token |" { effect: OpEffect::ArefExit { put: false } };
    /// Waits until an aref slot is empty and gives its buffers to a producer.
    ArefPutEnter = "aref.put.enter": "aref stage:i32? phase:i32? | buffers* token:!ttg.async.token | %aref ?{[ %stage , %phase ]} @ : !<aref -> !results | sized" { effect: OpEffect::ArefEnter { put: true } };
    /// Hands an aref slot on when the named operations on it are done: it is full.
    ArefPutExit = "aref.put.exit": "aref token:!ttg.async.token stage:i32? |  | %aref ?{[ %stage ]} , %token $async_ops @ : !<aref , !<token |" { effect: OpEffect::ArefExit { put: true } };
    /// Starts one group of warps for each of its regions.
    WarpGroup = "warp_group": "| results* | =warp_group |" { effect: OpEffect::Structure };
    /// Ends the first region of a warp group with its results.
    WarpGroupYield = "warp_group.yield": "values* |  | ?{%values} @ ?{: !values} | term" { effect: OpEffect::Structure };
    /// Ends a region of a warp group.
    WarpGroupReturn = "warp_group.return": "|  | @ | term" { effect: OpEffect::Structure };
    /// Makes a token with slots that producers and consumers pass back and forth.
    CreateToken = "create_token": "| result | @ : !result | numBuffers!i32" { effect: OpEffect::CreateToken };
    /// Waits until a slot of a token is empty.
    ProducerAcquire = "producer_acquire": "token idx:i32 phase:i1 |  | %token , %idx , %phase @ : !operands |" {
        effect: OpEffect::Token(TokenOp::Acquire),
        mutation: Some(MutationRole::BarrierWait("phase")),
    };
    /// Marks a slot of a token as full.
    ProducerCommit = "producer_commit": "token idx:i32 |  | %token , %idx @ : !operands |" { effect: OpEffect::Token(TokenOp::Commit) };
    /// Waits until a slot of a token is full.
    ConsumerWait = "consumer_wait": "token idx:i32 phase:i1 |  | %token , %idx , %phase @ : !operands |" {
        effect: OpEffect::Token(TokenOp::Wait),
        mutation: Some(MutationRole::BarrierWait("phase")),
    };
    /// Marks a slot of a token as empty.
    ConsumerRelease = "consumer_release": "token idx:i32 |  | %token , %idx @ : !operands |" { effect: OpEffect::Token(TokenOp::Release) };
    /// Loads a block of a tensor to the buffer of an aref or semaphore.
    DescriptorLoad = "descriptor_load": "desc indices:i32* result |  | %desc [ %indices ] $txCount %result *{cacheModifier = $cache | evictionPolicy = $evict} @ : !operands |" {
        effect: OpEffect::DescriptorLoad,
        partition: Some(PartitionHint::TmaLoad),
    };
    /// Loads chosen rows of a tensor to the buffer of an aref or semaphore.
    DescriptorGather = "descriptor_gather": "desc x_offsets y_offset:i32 result |  | %desc [ %x_offsets , %y_offset ] $txCount %result @ : !operands |" {
        effect: OpEffect::DescriptorLoad,
        partition: Some(PartitionHint::TmaLoad),
    };
    // Newer than arefs.
    /// Makes a semaphore over slots of buffers, released or not at the start.
    SemaphoreCreate = "semaphore.create": "buffers* | result | %buffers ?{released = $released}:{?{$is_released}} @ : !<result |" { effect: OpEffect::SemaphoreCreate };
    /// Waits until a slot of a semaphore has been released.
    SemaphoreAcquire = "semaphore.acquire": "semaphore stage:i32? phase:i32? | token:!ttg.async.token | %semaphore ?{[ %stage ?{, %phase} ]} @ : !<semaphore -> !token | sized" { effect: OpEffect::SemaphoreAcquire };
    /// The buffers of the semaphore slot that a token stands for.
    SemaphoreBuffer = "semaphore.buffer": "semaphore token:!ttg.async.token stage:i32? | buffers* | %semaphore ?{[ %stage ]} , %token @ : !<semaphore , !<token -> !results |" { effect: OpEffect::SemaphoreBuffer } get { operand token = "token" };
    /// Releases a slot of a semaphore when the named operations on it are done.
    SemaphoreRelease = "semaphore.release": "semaphore token:!ttg.async.token stage:i32? |  | %semaphore ?{[ %stage ]} , %token $async_ops @ : !<semaphore , !<token |" { effect: OpEffect::SemaphoreRelease } get { operand semaphore = "semaphore", operand stage = "stage" };
    // Of one version only, or of an older one.
    /// Joins aref buffers of several paths.
    ArefPhi = "aref.phi": "operands* | results* | ... |" { effect: OpEffect::Unmodelled(PHI) };
    /// Asks cluster launch control for a tile, before warp specialisation is lowered.
    ClcTryCancel = "clc_try_cancel": "operands* | results* | ... |" {
        effect: OpEffect::Unknown,
        partition: Some(PartitionHint::Schedule),
    };
}
