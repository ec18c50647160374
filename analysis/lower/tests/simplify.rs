//! Kernels before and after [`simplify`].

use kernel::text;
use lower::simplify::simplify;

/// Simplifies the kernel of a text and prints it.
fn simple(source: &str) -> String {
    let lowered = text::parse(source).unwrap_or_else(|error| panic!("{error}"));
    let (kernel, map) = simplify(lowered.kernel, lowered.map);
    let printed = text::print(&kernel);
    let again = text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.kernel, kernel, "canonical kernels round-trip");
    let (twice, _) = simplify(kernel.clone(), map);
    assert_eq!(twice, kernel, "simplifying twice changes nothing");
    printed
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let printed = simple(source);
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "\n{printed}");
}

#[test]
fn what_no_effect_needs_goes() {
    check(
        "
        kernel ctas=1
        buffer $a shared bits=64 barriers
        shape s element=64 dims=1:64
        input K argument 0 width=32 divisor=1
        block b0
          %k = input K
          %one = const 1
          %sum = add w32 %k %one
          %bar:s = base $a
          %zero = const 0
          wait %bar phase=%zero
          return
        ",
        "
        kernel ctas=1 entry=b0
        partition
        buffer $0 shared bits=64 slot=64 barriers
        shape s0 element=64 dims=1:64
        block b0()
          %0:s0 = base $0
          %1 = const 0
          @0 wait %0 phase=%1
          @1 return
        ",
    );
}

#[test]
fn a_loop_without_effects_goes_unless_its_result_is_needed() {
    let text = |phase: &str| {
        format!(
            "
            kernel ctas=1
            buffer $a shared bits=64 barriers
            shape s element=64 dims=1:64
            input K argument 0 width=32 divisor=1
            block start
              %bar:s = base $a
              %k = input K
              %zero = const 0
              %one = const 1
              jump head(%zero, %zero)
            block head(%i, %x)
              %c = cmp slt w32 %i %k
              branch %c body exit
            block body
              %y = xor w32 %x %one
              %j = add w32 %i %one
              jump head(%j, %y)
            block exit
              wait %bar phase={phase}
              return
            loop l @9 head=head counted=%i,%zero,%k,%one
            "
        )
    };
    check(
        &text("%zero"),
        "
        kernel ctas=1 entry=b0
        partition
        buffer $0 shared bits=64 slot=64 barriers
        shape s0 element=64 dims=1:64
        block b0()
          %0:s0 = base $0
          %1 = const 0
          @0 wait %0 phase=%1
          @1 return
        ",
    );
    check(
        &text("%x"),
        "
        kernel ctas=1 entry=b0
        partition
        buffer $0 shared bits=64 slot=64 barriers
        shape s0 element=64 dims=1:64
        input i0 argument 0 width=32 divisor=1
        block b0()
          %0:s0 = base $0
          %1 = input i0
          %2 = const 0
          %3 = const 1
          jump b1(%2, %2)
        block b1(%4, %5)
          %6 = cmp slt w32 %4 %1
          branch %6 b2() b3()
        block b2()
          %7 = xor w32 %5 %3
          %8 = add w32 %4 %3
          jump b1(%8, %7)
        block b3()
          @0 wait %0 phase=%5
          @1 return
        loop l0 @2 head=b1 counted=%4,%2,%1,%3
        ",
    );
}

#[test]
fn a_branch_without_effects_becomes_a_straight_line() {
    check(
        "
        kernel ctas=1
        input x free width=1 divisor=1
        block b0
          %x = input x
          branch %x b1 b2
        block b1
          %a = const 3
          jump b3(%a)
        block b2
          %b = const 4
          jump b3(%b)
        block b3(%c)
          proxy_fence
          return
        ",
        "
        kernel ctas=1 entry=b0
        partition
        block b0()
          @0 proxy_fence
          @1 return
        ",
    );
}

#[test]
fn a_loop_in_cfg_form_is_found_and_counted() {
    let printed = simple(
        "
        kernel ctas=1
        input K argument 0 width=32 divisor=1
        block start
          %k = input K
          %zero = const 0
          %one = const 1
          jump outer(%zero)
        block outer(%o)
          %c = cmp slt w32 %o %k
          branch %c inner_start end
        block inner_start
          jump inner(%zero)
        block inner(%i)
          %d = cmp slt w32 %i %o
          branch %d body next
        block body
          proxy_fence
          %j = add w32 %i %one
          jump inner(%j)
        block next
          %p = add w32 %o %one
          jump outer(%p)
        block end
          return
        loop a @5 head=outer
        loop b @6 head=inner
        ",
    );
    let loops: Vec<&str> = printed.lines().filter(|line| line.starts_with("loop")).collect();
    assert_eq!(loops, ["loop l0 @2 head=b1 counted=%3,%1,%0,%2", "loop l1 @3 head=b2 counted=%5,%1,%3,%2 parent=l0"]);
}

#[test]
fn an_endless_loop_stays() {
    let printed = simple(
        "
        kernel ctas=1
        block start
          jump head
        block head
          proxy_fence
          jump head
        loop a @5 head=head
        ",
    );
    assert!(printed.contains("loop l0"), "{printed}");
    assert!(printed.contains("jump b1()"), "{printed}");
}

#[test]
fn partitions_are_numbered_after_the_default() {
    check(
        "
        kernel ctas=1
        partition warps=4
        partition warps=2
        block start
          fork default 1:worker
        block worker
          proxy_fence
          exit
        block default
          proxy_fence
          jump leave
        block leave
          join after
        block after
          return
        ",
        "
        kernel ctas=1 entry=b0
        partition
        partition
        block b0()
          @0 fork b1() 1:b3()
        block b1()
          @1 proxy_fence
          @2 join b2()
        block b2()
          @3 return
        block b3()
          @4 proxy_fence
          @5 exit
        ",
    );
}

#[test]
fn warps_are_told_apart_only_where_something_counts_them() {
    let written = |warps: &str, effect: &str| {
        format!(
            "
            kernel ctas=1
            partition warps={warps}
            buffer $a shared bits=64 barriers
            shape s element=64 dims=1:64
            block start
              %bar:s = base $a
              {effect}
              return
            "
        )
    };
    let kernel = |warps: &str, effect: &str| {
        let lowered = text::parse(&written(warps, effect)).expect("the text is a kernel");
        simplify(lowered.kernel, lowered.map)
    };
    let ((four, map), (eight, _)) = (kernel("4", "init %bar count=1"), kernel("8", "init %bar count=1"));
    assert_eq!((&four, map.warps), (&eight, vec![4]));
    let arrive = "async_copy_arrive %bar";
    assert_ne!(kernel("4", arrive).0, kernel("8", arrive).0);
}

/// The canonical form of a kernel whose loop counts tiles in `%t`. Its head is handed one value more, `handed` with 0 at
/// first, which `before` computes, and with 1 from then on, which `next` computes; `asked` is its condition.
fn persistent(handed: &str, before: &str, next: &str, asked: &str) -> String {
    simple(&format!(
        "
        kernel ctas=1
        input N argument 0 width=32 divisor=1
        input P program_id 0 width=32 divisor=1
        input G num_programs 0 width=32 divisor=1
        block start
          %n = input N
          %pid = input P
          %zero = const 0
          %one = const 1
          {before}
          jump head(%pid{first})
        block head(%t{params})
          {asked}
          branch %c body exit
        block body
          proxy_fence
          %g = input G
          %u = add w32 %t %g
          {next}
          jump head(%u{again})
        block exit
          return
        loop a @5 head=head
        ",
        first = if handed.is_empty() { String::new() } else { format!(", %{handed}0") },
        params = if handed.is_empty() { String::new() } else { format!(", %{handed}") },
        again = if handed.is_empty() { String::new() } else { format!(", %{handed}1") },
    ))
}

#[track_caller]
fn counts(printed: &str) {
    assert!(printed.lines().any(|line| line.starts_with("loop") && line.contains("counted=")), "{printed}");
}

#[test]
fn a_condition_that_is_handed_on_is_asked_at_the_head() {
    let handed = persistent("m", "%m0 = cmp slt w32 %pid %n", "%k = input N\n%m1 = cmp slt w32 %u %k", "%c = copy %m");
    let asked = persistent("", "", "", "%c = cmp slt w32 %t %n");
    assert_eq!(handed, asked);
    counts(&asked);
}

#[test]
fn conditions_of_other_forms_are_counted_with() {
    for (handed, before, next, asked) in [
        ("", "", "", "%c = cmp sgt w32 %n %t"),
        ("", "%last = sub w32 %n %one", "", "%c = cmp sle w32 %t %last"),
        ("l", "%l0 = sub w32 %n %pid", "%l1 = sub w32 %l %g", "%c = cmp sgt w32 %l %zero"),
        ("d", "%d0 = cmp sge w32 %pid %n", "%d1 = cmp sge w32 %u %n", "%c = xor w1 %d %one"),
        ("", "", "", "%k = input G\n%a = cmp slt w32 %t %n\n%b = cmp slt w32 %t %k\n%c = and w1 %a %b"),
        ("i", "%i0 = const 0", "%i1 = add w32 %i %one", "%c = cmp ne w32 %i %n"),
        (
            "i",
            "%i0 = const 0",
            "%i1 = add w32 %i %one",
            "%k = input G\n%m = mul w32 %i %k\n%s = add w32 %m %pid\n%c = cmp slt w32 %s %n",
        ),
        (
            "m",
            "%a0 = cmp slt w32 %pid %n\n%m0 = select %a0 %one %zero",
            "%a1 = cmp slt w32 %u %n\n%m1 = select %a1 %one %zero",
            "%c = cmp eq w32 %m %one",
        ),
    ] {
        counts(&persistent(handed, before, next, asked));
    }
}

#[test]
fn what_is_no_counter_is_left_alone() {
    for (handed, before, next, asked) in [
        // It is halved.
        ("i", "%i0 = copy %n", "%i1 = shr_s w32 %i %one", "%c = cmp sgt w32 %i %zero"),
        // It grows away from its bound.
        ("", "", "", "%c = cmp sgt w32 %t %n"),
        // Which of the two questions ends the loop is not known.
        ("", "", "", "%k = input G\n%a = cmp slt w32 %t %n\n%b = cmp slt w32 %k %t\n%c = or w1 %a %b"),
        // The bound changes.
        ("b", "%b0 = copy %n", "%b1 = shr_s w32 %b %one", "%c = cmp slt w32 %t %b"),
    ] {
        let printed = persistent(handed, before, next, asked);
        assert!(!printed.contains("counted="), "{printed}");
    }
}

/// A wait whose phase is computed so from an argument `%n`.
fn phased(computed: &str) -> String {
    simple(&format!(
        "
        kernel ctas=1
        buffer $a shared bits=64 barriers
        shape s element=64 dims=1:64
        input N argument 0 width=32 divisor=1
        block b0
          %n = input N
          %three = const 3
          %four = const 4
          {computed}
          %bar:s = base $a
          wait %bar phase=%p
          return
        "
    ))
}

#[test]
fn remainders_that_are_spelled_out_are_remainders() {
    for (quotient, product, rest) in [
        ("div_s w32 %n %three", "mul w32 %q %three", "rem_s w32"),
        ("div_u w32 %n %three", "mul w32 %three %q", "rem_u w32"),
    ] {
        let printed = phased(&format!("%q = {quotient}\n%m = {product}\n%p = sub w32 %n %m"));
        assert!(printed.contains(rest) && !printed.contains("sub w32"), "{printed}");
    }
    for (quotient, product) in [
        ("div_s w32 %n %three", "mul w32 %q %four"),
        ("div_s w32 %four %three", "mul w32 %q %three"),
        ("div_s w32 %n %three", "mul w64 %q %three"),
    ] {
        let printed = phased(&format!("%q = {quotient}\n%m = {product}\n%p = sub w32 %n %m"));
        assert!(printed.contains("sub w32"), "{printed}");
    }
}

/// A word that is stored and read, which is the phase of a wait.
fn stored(loops: bool, again: &str) -> String {
    let (head, tail) = match loops {
        true => (
            "jump b1(%zero)\nblock b1(%i)\n%more = cmp slt w32 %i %n\nbranch %more b2() b3()\nblock b2()",
            "%i1 = add w32 %i %one\njump b1(%i1)\nblock b3()",
        ),
        false => ("", ""),
    };
    simple(&format!(
        "
        kernel ctas=1
        buffer $a shared bits=64 barriers
        buffer $w shared bits=32
        shape s element=64 dims=1:64
        shape w element=32 dims=1:32
        input N argument 0 width=32 divisor=1
        input F free width=32 divisor=1
        block b0()
          %n = input N
          %f = input F
          %zero = const 0
          %one = const 1
          %bar:s = base $a
          %word:w = base $w
          {head}
          op base -=write:generic:%word in_order
          word %word = %n
          {again}
          {tail}
          op base -=read:generic:%word in_order
          %p = word %word %f
          wait %bar phase=%p
          return
        "
    ))
}

#[test]
fn a_word_that_is_stored_once_is_the_word_that_is_read() {
    let is_known = |printed: &str| !printed.contains("free");
    assert!(is_known(&stored(false, "")));
    assert!(!is_known(&stored(true, "")));
    assert!(!is_known(&stored(false, "op base -=write:generic:%word in_order\nword %word = %one")));
    assert!(!is_known(&stored(false, "op base -=write:generic:%word in_order")));
}
