//! The same programs while short lives are left out: they behave as without memlog, and
//! events and sums together are all that the second recorder has.

use super::common::culled::Totals;
use super::common::tools::{Random, seed};
use super::sample::{Native, sample};
use super::{MOST_COMPARED, is_long, judge, run};

const CULL: (&str, &str) = ("MEMLOG_CULL", "10ms");

#[test]
fn programs_behave_while_short_lives_are_left_out() {
    let mut random = Random::new(seed());
    let (mut totals, mut ran, mut wrong) = (Totals::default(), 0, Vec::new());
    // Of what was lost, or came unseen, no sum tells.
    for native in sample(&mut random, |case| !case.may_lose && !case.may_reuse) {
        let said = one(&native, &mut totals);
        let name = &native.case.name;
        let verdict = if said.is_empty() {
            "as native"
        } else {
            "WRONG"
        };
        println!("{name:28} {verdict}");
        wrong.extend(said.into_iter().map(|line| format!("{name}: {line}")));
        ran += 1;
    }
    totals.tell(&format!("{ran} programs"));
    assert_eq!(wrong, [] as [String; 0]);
    assert!(ran > 0);
    // A few may all be too short for that.
    assert!(
        ran < 100 || totals.culled_images > 0,
        "nothing was left out"
    );
}

fn one(native: &Native, totals: &mut Totals) -> Vec<String> {
    let Native {
        case,
        program,
        output,
        most,
    } = native;
    let (culled, mut family) = run::twice(case, program, *most, &[CULL]);
    let mut wrong = judge::same(output, &culled);
    if !is_long() {
        family
            .pairs
            .retain(|pair| pair.gold.heap.len() as u64 <= MOST_COMPARED);
    }
    wrong.extend(totals.take(&family, false));
    wrong
}
