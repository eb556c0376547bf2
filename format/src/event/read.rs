//! Records read: the mirror of what is beside it, and the judge of what a record is.

use super::{
    ANNOUNCED, Alloc, BYTES, Deltas, Event, HAS_STACK, LONG_STEP, OP_ALLOC, OP_EXT, OP_FREE,
    OP_MALLOC, OP_RELEASE, OP_REVOKE, OP_STAMP, OP_TICK, ORDERED, Release, SAME_SIZE, SAME_STACK,
    USABLE, predicted_usable, short_release,
};
use crate::Malformed;
use crate::api::Api;
use crate::ext::{Ext, PASSED_LIKE};
use crate::table::StackId;
use crate::varint::{Reader, unzigzag};

impl Deltas {
    /// Reads the next record, or `None` at the end.
    #[inline]
    pub fn next<'a>(&mut self, bytes: &mut Reader<'a>) -> Result<Option<Event<'a>>, Malformed> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let at = bytes.at();
        let tag = bytes.u8()?;
        let flags = tag & !7;
        if flags & unused_flags(tag & 7) != 0 || tag == OP_EXT {
            return Err(Malformed {
                offset: at,
                expected: "the tag of a record",
            });
        }
        Ok(Some(match tag & 7 {
            OP_EXT => {
                let payload = bytes.blob()?;
                let kind = tag >> 3;
                let ext = match kind {
                    PASSED_LIKE => self.get_passed(payload),
                    _ => Ext::decode(kind, payload),
                };
                let ext = ext.map_err(|error| Malformed {
                    offset: at,
                    ..error
                })?;
                match ext {
                    Ext::Custom => self.told(bytes).unwrap_or(Event::Ext(ext)),
                    ext => Event::Ext(ext),
                }
            }
            OP_MALLOC => Event::Alloc(self.get_alloc(bytes, flags, Api::Malloc)?),
            OP_ALLOC => {
                let api = get_api(bytes)?;
                Event::Alloc(self.get_alloc(bytes, flags, api)?)
            }
            OP_FREE => {
                let api = short_release(flags & ANNOUNCED != 0);
                Event::Release(self.get_release(bytes, flags, api)?)
            }
            OP_RELEASE => {
                let api = get_api(bytes)?;
                Event::Release(self.get_release(bytes, flags, api)?)
            }
            OP_TICK => {
                self.tick = self.tick.saturating_add(get_step(bytes, tag)?);
                Event::Tick(self.tick)
            }
            OP_STAMP => {
                self.stamp = self.stamp.wrapping_add(get_step(bytes, tag)?);
                Event::Stamp(self.stamp)
            }
            _ => Event::Revoke,
        }))
    }

    #[cold]
    fn get_passed<'a>(&mut self, payload: &'a [u8]) -> Result<Ext<'a>, Malformed> {
        let passed = self.passed.decode(&mut Reader::new(payload))?;
        Ok(passed.map_or(
            Ext::Unknown {
                kind: PASSED_LIKE,
                payload,
            },
            Ext::Passed,
        ))
    }

    /// What the program told of, behind the record that says so; nothing where none is there
    /// that could be that, or it is malformed: then who reads on meets it.
    #[cold]
    #[inline(never)]
    fn told<'a>(&mut self, bytes: &mut Reader<'a>) -> Option<Event<'a>> {
        let (mut deltas, mut behind) = (*self, bytes.clone());
        let tag = behind.u8().ok()?;
        let flags = tag & !7;
        if flags & unused_flags(tag & 7) != 0 {
            return None;
        }
        let event = match tag & 7 {
            op @ (OP_MALLOC | OP_ALLOC) => {
                let api = match op {
                    OP_MALLOC => Api::Malloc,
                    _ => get_api(&mut behind).ok()?,
                };
                let alloc = deltas.get_alloc(&mut behind, flags, api).ok()?;
                let api = api.told();
                Event::Alloc(Alloc { api, ..alloc })
            }
            op @ (OP_FREE | OP_RELEASE) => {
                let api = match op {
                    OP_FREE => short_release(flags & ANNOUNCED != 0),
                    _ => get_api(&mut behind).ok()?,
                };
                let release = deltas.get_release(&mut behind, flags, api).ok()?;
                let api = api.told();
                Event::Release(Release { api, ..release })
            }
            _ => return None,
        };
        (*self, *bytes) = (deltas, behind);
        Some(event)
    }

    #[inline(always)]
    fn get_alloc(&mut self, bytes: &mut Reader, flags: u8, api: Api) -> Result<Alloc, Malformed> {
        let alignment_log2 = match api {
            Api::Malloc => 0,
            _ if api.is_aligned() => bytes.u8()?,
            _ => 0,
        };
        if flags & SAME_SIZE == 0 {
            self.size = bytes.var()?;
        }
        let size = self.size;
        let address = self.get_address(bytes, flags)?;
        let usable = match flags & USABLE {
            0 => predicted_usable(size),
            _ => size.wrapping_add(bytes.var()?),
        };
        let stack = match flags & SAME_STACK {
            0 => self.get_stack(bytes)?,
            _ => StackId(self.stack),
        };
        Ok(Alloc {
            api,
            address,
            size,
            usable,
            alignment_log2,
            stack,
            order: get_order(bytes, flags)?,
        })
    }

    #[inline(always)]
    fn get_release(
        &mut self,
        bytes: &mut Reader,
        flags: u8,
        api: Api,
    ) -> Result<Release, Malformed> {
        Ok(Release {
            api,
            address: self.get_address(bytes, flags)?,
            announced: flags & ANNOUNCED != 0,
            stack: match flags & HAS_STACK {
                0 => None,
                _ => Some(self.get_stack(bytes)?),
            },
            order: get_order(bytes, flags)?,
        })
    }

    #[inline]
    fn get_address(&mut self, bytes: &mut Reader, flags: u8) -> Result<u64, Malformed> {
        let distance = unzigzag(bytes.var()?);
        let shift = if flags & BYTES == 0 { 4 } else { 0 };
        self.address = self.address.wrapping_add((distance << shift) as u64);
        Ok(self.address)
    }

    #[inline]
    fn get_stack(&mut self, bytes: &mut Reader) -> Result<StackId, Malformed> {
        let at = bytes.at();
        let distance = unzigzag(bytes.var()?);
        let stack = i64::from(self.stack).checked_add(distance);
        let stack = stack
            .and_then(|id| u32::try_from(id).ok())
            .ok_or(Malformed {
                offset: at,
                expected: "a stack id below 2^32",
            })?;
        self.stack = stack;
        Ok(StackId(stack))
    }
}

/// Flags that an operation leaves zero.
const fn unused_flags(operation: u8) -> u8 {
    match operation {
        OP_FREE | OP_RELEASE => SAME_SIZE,
        OP_REVOKE => !7,
        _ => 0,
    }
}

fn get_step(bytes: &mut Reader, tag: u8) -> Result<u64, Malformed> {
    let step = u64::from(tag >> 3);
    if step < LONG_STEP {
        return Ok(step);
    }
    Ok(LONG_STEP.saturating_add(bytes.var()?))
}

fn get_order(bytes: &mut Reader, flags: u8) -> Result<Option<u64>, Malformed> {
    match flags & ORDERED {
        0 => Ok(None),
        _ => bytes.var().map(Some),
    }
}

fn get_api(bytes: &mut Reader) -> Result<Api, Malformed> {
    let offset = bytes.at();
    Api::from_byte(bytes.u8()?).ok_or(Malformed {
        offset,
        expected: "the number of an entry point",
    })
}
