//! The file's own unwind table says which rows are true, at each return address.

use crate::image::Image;
use crate::known::{CLASSES, Class};
use crate::rows::{Row, Rows};
use crate::state::PRESERVED;
use crate::ways::instruction;
use gimli::{BaseAddresses, CfaRule, CieOrFde, EhFrame, LittleEndian, Register, RegisterRule};
use gimli::{UnwindContext, UnwindSection, UnwindTableRow};
use iced_x86::FlowControl;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

type Slice<'a> = gimli::EndianSlice<'a, LittleEndian>;
type Truth = UnwindTableRow<usize>;

const FP: Register = Register(6);
const SP: Register = Register(7);

/// What came out, for one class of functions.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub exact: usize,
    /// By the other register, of which the table says nothing.
    pub unlike: usize,
    pub wrong: usize,
}

/// Why there is no row.
#[derive(Clone, Copy, Default, Debug)]
pub struct Absent {
    /// Nothing of the function is known.
    pub unknown: usize,
    /// No way comes there, in a function that has landing pads.
    pub landing: usize,
    /// No way comes there otherwise.
    pub unreached: usize,
    /// Ways say two things, or nothing.
    pub unsure: usize,
}

impl Absent {
    pub fn sum(&self) -> usize {
        self.unknown + self.landing + self.unreached + self.unsure
    }
}

#[derive(Default)]
pub struct Judgement {
    pub classes: [Counts; CLASSES.len()],
    pub absent: Absent,
    /// The table's rule is no register and a distance.
    pub other: usize,
    pub wrong: Vec<String>,
    pub missing: Vec<String>,
    pub frames_bytes: usize,
}

impl Judgement {
    pub fn of(&self, class: Class) -> &Counts {
        &self.classes[class as usize]
    }

    pub fn sum(&self, of: fn(&Counts) -> usize) -> usize {
        self.classes.iter().map(of).sum()
    }
}

/// Compares all rows behind calls; none where the file has no table.
pub fn judge(file: &[u8], image: &Image, rows: &Rows) -> Option<Judgement> {
    let elf = ElfFile64::<object::Endianness>::parse(file).ok()?;
    let section = elf.section_by_name(".eh_frame")?;
    let data = section.data().ok()?;
    let mut judgement = Judgement {
        frames_bytes: data.len(),
        ..Judgement::default()
    };
    let header = elf
        .section_by_name(".eh_frame_hdr")
        .and_then(|header| header.data().ok());
    judgement.frames_bytes += header.map_or(0, <[u8]>::len);
    let frames = EhFrame::new(data, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut context = UnwindContext::new();
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let Ok(description) = partial.parse(EhFrame::cie_from_offset) else {
            continue;
        };
        if description.len() > 0 && !description.is_signal_trampoline() {
            judgement.walk(image, rows, &frames, &bases, &mut context, &description);
        }
    }
    Some(judgement)
}

impl Judgement {
    fn walk<'a>(
        &mut self,
        image: &Image,
        rows: &Rows,
        frames: &EhFrame<Slice<'a>>,
        bases: &BaseAddresses,
        context: &mut UnwindContext<usize>,
        description: &gimli::FrameDescriptionEntry<Slice<'a>>,
    ) {
        let (start, end) = (description.initial_address(), description.end_address());
        let is_known = rows.rows.range(start..end).next().is_some();
        let has_landings = description.lsda().is_some();
        let Ok(mut table) = description.rows(frames, bases, context) else {
            return;
        };
        let mut at = start;
        while let Ok(Some(truth)) = table.next_row() {
            while at < end.min(truth.end_address()) {
                let Some(code) = instruction(image, at) else {
                    at += 1;
                    continue;
                };
                at = code.next_ip();
                let is_near = code.is_call_near();
                if !matches!(code.flow_control(), FlowControl::IndirectCall) && !is_near {
                    continue;
                }
                // One that rows change within belongs to the next.
                match rows.rows.get(&code.ip()) {
                    Some(row) if row.is_whole() => self.compare(code.ip(), row, truth),
                    row => {
                        let (what, count) = match row {
                            Some(_) => ("unsure", &mut self.absent.unsure),
                            None if !is_known => ("unknown", &mut self.absent.unknown),
                            None if has_landings => ("landing", &mut self.absent.landing),
                            None => ("unreached", &mut self.absent.unreached),
                        };
                        *count += 1;
                        self.missing
                            .push(format!("{:#x} in {start:#x}: {what}", code.ip()));
                    }
                }
            }
        }
    }

    fn compare(&mut self, at: u64, row: &Row, truth: &Truth) {
        let CfaRule::RegisterAndOffset { register, offset } = *truth.cfa() else {
            self.other += 1;
            return;
        };
        let ours = match register {
            SP => row.state.sp,
            FP => row.state.fp,
            _ => {
                self.other += 1;
                return;
            }
        };
        let counts = &mut self.classes[row.class as usize];
        let Some(ours) = ours.map(|distance| -i64::from(distance)) else {
            counts.unlike += 1;
            return;
        };
        let below = if register == SP { -offset } else { i64::MIN };
        let what = match ours == offset {
            true => difference(row, truth, below),
            false => Some(format!(
                "CFA {ours} for {offset} above register {}",
                register.0
            )),
        };
        match what {
            None => counts.exact += 1,
            Some(what) => {
                counts.wrong += 1;
                self.wrong.push(format!(
                    "{at:#x} in {:#x} ({:?}): {what}",
                    row.start, row.class
                ));
            }
        }
    }
}

/// What differs of the registers that calls preserve; as the test of the proofs
/// inside a program takes it.
fn difference(row: &Row, truth: &Truth, below: i64) -> Option<String> {
    PRESERVED
        .iter()
        .zip(row.state.kept)
        .find_map(|((_, name), kept)| {
            let right = match truth.register(Register(*name)) {
                Some(RegisterRule::Offset(at)) => Some(at),
                None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => None,
                Some(other) => return Some(format!("register {name}: {kept:?} for {other:?}")),
            };
            let is_same = match (kept.at().map(i64::from), right) {
                // Popped already: tables do not take back where it was.
                (None, Some(at)) => at < below,
                // The table need not say where it lies before it is changed.
                (Some(_), None) => true,
                (mine, right) => mine == right,
            };
            (!is_same).then(|| format!("register {name}: {kept:?} for {right:?}"))
        })
}
