//! A mapping byte by byte, in the plainest way, against the sweep.

use memlog_format::resident::Mapped;

use super::given::{Adding, Given};
use super::sweep::{Area, Block, Touched, sweep};

const PAGE: u64 = 64;
const LOW: u64 = 1 << 20;
const BYTES: u64 = 16 << 10;

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn var(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What each byte is: the last that is said of it counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Live,
    Rounding,
    Mapped,
    Backing,
    Nothing,
}

struct World {
    there: Vec<bool>,
    blocks: Vec<Block>,
    areas: Vec<Area>,
    gone: Vec<(u64, u64)>,
}

fn made(dice: &mut Dice) -> World {
    let pages = BYTES / PAGE;
    let mut there = Vec::new();
    while (there.len() as u64) < pages {
        let is_there = dice.below(2) == 0;
        let run = 1 + dice.below(12) as usize;
        there.extend(std::iter::repeat_n(is_there, run));
    }
    there.truncate(pages as usize);
    let (mut blocks, mut gone, mut at) = (Vec::new(), Vec::new(), LOW - 40);
    while at < LOW + BYTES + 100 {
        at += 16 * dice.below(40);
        let size = 1 + dice.below(700);
        // Glibc's: a word before each, and all up to the next one's.
        let given = (size + 8).next_multiple_of(16).max(32) - 8;
        let address = at.next_multiple_of(16);
        match dice.below(3) {
            0 => gone.push((address, given)),
            stack => blocks.push(Block {
                address,
                size,
                given,
                stack: stack as u32,
                is_chosen: true,
            }),
        }
        at = address + given + 8;
    }
    let (mut areas, mut at) = (Vec::new(), LOW - 500);
    while at < LOW + BYTES {
        at += dice.below(3000);
        let end = at + 1 + dice.below(2000);
        areas.push(Area {
            low: at,
            end,
            is_backing: dice.below(2) == 0,
            stack: 3 + dice.below(2) as u32,
        });
        at = end;
    }
    World {
        there,
        blocks,
        areas,
        gone,
    }
}

#[test]
fn each_byte_is_counted_once_and_as_it_is() {
    for seed in 1..300_u64 {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let world = made(&mut dice);
        let mut bytes = vec![Byte::Nothing; BYTES as usize];
        let mut paint = |from: u64, to: u64, byte: Byte| {
            for at in from.max(LOW)..to.min(LOW + BYTES) {
                bytes[(at - LOW) as usize] = byte;
            }
        };
        for area in &world.areas {
            let byte = if area.is_backing {
                Byte::Backing
            } else {
                Byte::Mapped
            };
            paint(area.low, area.end, byte);
        }
        for block in &world.blocks {
            paint(
                block.address - 8,
                block.address + block.given,
                Byte::Rounding,
            );
            paint(block.address, block.address + block.size, Byte::Live);
        }
        let mut given = Adding::default();
        let all = world
            .blocks
            .iter()
            .map(|block| (block.address, block.given));
        for (address, bytes) in all.chain(world.gone.iter().copied()) {
            given.add(address, bytes, PAGE);
        }
        let given = given.settled();
        let had_block = |page: u64| {
            let all = world
                .blocks
                .iter()
                .map(|block| (block.address, block.given));
            let mut all = all.chain(world.gone.iter().copied());
            all.any(|(address, bytes)| {
                address / PAGE <= page && page <= (address + bytes - 1) / PAGE
            })
        };
        let (mut live, mut rounding, mut mapped, mut freed, mut backing) = (0, 0, 0, 0, 0);
        for (place, byte) in bytes.iter().enumerate() {
            let page = (LOW + place as u64) / PAGE;
            if !world.there[(page - LOW / PAGE) as usize] {
                continue;
            }
            match byte {
                Byte::Live => live += 1,
                Byte::Rounding => rounding += 1,
                Byte::Mapped => mapped += 1,
                _ if had_block(page) => freed += 1,
                Byte::Backing => backing += 1,
                Byte::Nothing => {}
            }
        }
        let mut runs = Vec::new();
        let mut pages = world.there.as_slice();
        let mut is_there = false;
        while !pages.is_empty() {
            let run = pages.iter().take_while(|page| **page == is_there).count();
            var(&mut runs, run as u64);
            (pages, is_there) = (&pages[run..], !is_there);
        }
        let resident = world.there.iter().filter(|page| **page).count() as u64 * PAGE;
        // Kilobytes are whole ones: the runs are the judge, and nothing is scaled.
        let mapping = Mapped {
            low_kb: LOW / 1024,
            length_kb: BYTES / 1024,
            resident_kb: resident.div_ceil(1024),
            runs: &runs,
            ..Mapped::default()
        };
        let (mut of_blocks, mut of_areas) = (0, 0);
        let found = sweep(
            &mapping,
            PAGE,
            (&world.blocks, &given, &world.areas),
            &mut |touched| match touched {
                Touched::Block(_, bytes) => of_blocks += bytes,
                Touched::Area(_, bytes) => of_areas += bytes,
            },
        );
        assert_eq!(
            [
                found.live,
                found.rounding,
                found.mapped,
                found.freed,
                found.backing
            ],
            [live, rounding, mapped, freed, backing],
            "seed {seed}"
        );
        assert_eq!((of_blocks, of_areas), (live, mapped));
    }
}

/// Pages of zeros: fewer are counted than are there.
#[test]
fn what_the_kernel_does_not_count_is_spread() {
    let runs = [0, 4];
    let mapping = Mapped {
        low_kb: 1024,
        length_kb: 16,
        resident_kb: 4,
        runs: &runs,
        ..Mapped::default()
    };
    let block = Block {
        address: 1 << 20,
        size: 8192,
        given: 8192,
        stack: 0,
        is_chosen: true,
    };
    let found = sweep(
        &mapping,
        4096,
        (&[block], &Given::default(), &[]),
        &mut |_| {},
    );
    assert_eq!(found.live, 2048);
}

/// Numbers of a damaged log overflow nothing and loop for no time.
#[test]
fn any_numbers_are_taken() {
    let mut runs = Vec::new();
    for number in [u64::MAX, u64::MAX, 1, u64::MAX] {
        var(&mut runs, number);
    }
    for (low_kb, length_kb) in [(0, u64::MAX), (u64::MAX, u64::MAX), (1 << 54, 3)] {
        let mapping = Mapped {
            low_kb,
            length_kb,
            resident_kb: u64::MAX,
            runs: &runs,
            ..Mapped::default()
        };
        let block = Block {
            address: u64::MAX - 5,
            size: u64::MAX,
            given: u64::MAX,
            stack: 0,
            is_chosen: true,
        };
        let given = Given::default();
        sweep(&mapping, 4096, (&[block], &given, &[]), &mut |_| {});
    }
}
