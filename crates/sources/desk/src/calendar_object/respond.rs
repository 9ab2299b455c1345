//! The owner's answer to an invitation.

use jiff::Timestamp;

use super::change::touch;
use super::read::address;
use super::{CalendarObject, ObjectLocation, OccurrenceKey, invalid};
use crate::backend::{BackendError, InvitationReply};
use crate::ical::IcalComponent;
use crate::owner::CalendarOwner;

/// What the owner says.
pub(crate) struct OwnerReply<'a> {
    pub(crate) reply: InvitationReply,
    pub(crate) comment: Option<&'a str>,
}

impl CalendarObject {
    /// Answers for one occurrence, or for all.
    pub(crate) fn respond(
        &mut self,
        place: ObjectLocation<'_>,
        key: Option<OccurrenceKey>,
        answer: &OwnerReply<'_>,
        now: Timestamp,
    ) -> Result<(), BackendError> {
        let home = place.home;
        if let Some(key) = self.narrowed(place, key)? {
            let part = self.own_part(place, key)?;
            answer.write(part, home)?;
            touch(part, now, false);
        } else {
            let mut answered = 0;
            let mut refused = None;
            for part in self.parts_mut() {
                match answer.write(part, home) {
                    Ok(()) => {
                        answered += 1;
                        touch(part, now, false);
                    }
                    Err(fault) => refused = Some(fault),
                }
            }
            if let (0, Some(fault)) = (answered, refused) {
                return Err(fault);
            }
        }
        self.add_zones(now);
        Ok(())
    }
}

impl OwnerReply<'_> {
    fn write(&self, part: &mut IcalComponent, home: &CalendarOwner) -> Result<(), BackendError> {
        let own = part.properties.iter_mut().find(|it| {
            it.name == "ATTENDEE" && address(it).is_some_and(|address| home.is_own(address))
        });
        let own = own.ok_or_else(|| {
            invalid("you are not among the guests of this event, so there is nothing to answer")
        })?;
        let word = match self.reply {
            InvitationReply::Waiting => "NEEDS-ACTION",
            InvitationReply::Accepted => "ACCEPTED",
            InvitationReply::Declined => "DECLINED",
            InvitationReply::Tentative => "TENTATIVE",
        };
        own.put("PARTSTAT", Some(word));
        own.put("RSVP", (self.reply == InvitationReply::Waiting).then_some("TRUE"));
        // No standard has a place for it; calendars of Google read and write this one.
        own.put("X-RESPONSE-COMMENT", self.comment.filter(|comment| !comment.is_empty()));
        Ok(())
    }
}
