//! Components: what stands between `BEGIN` and `END`.

use super::content_line::{IcalProperty, unfolded};

/// How deep components may stand in each other; RFC 5545 knows three levels.
pub(super) const DEEPEST: usize = 8;

/// One component with all that stands in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct IcalComponent {
    /// In upper case: `VEVENT`.
    pub name: String,
    pub properties: Vec<IcalProperty>,
    pub components: Vec<IcalComponent>,
}

/// Why a text is no iCalendar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IcalReadError {
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    #[error("line {0} goes deeper than {DEEPEST} components")]
    TooDeep(usize),
    #[error("line {0} ends a component that was not begun")]
    NotBegun(usize),
    #[error("`{0}` has no end: the text is cut off")]
    CutOff(String),
    #[error("it is no UTF-8 text: convert it")]
    NotUtf8,
    #[error("it has no event and no task in it")]
    Empty,
}

impl IcalComponent {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The outermost components of a text. Lines that are none are passed over unless they begin as
    /// those that say when something is, as those are that stand outside of components.
    pub fn read(text: &str, max: usize) -> Result<Vec<Self>, IcalReadError> {
        if text.len() > max {
            return Err(IcalReadError::TooLarge(max));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut open: Vec<Self> = Vec::new();
        let mut whole = Vec::new();
        for (index, line) in unfolded(text).iter().enumerate() {
            let property = IcalProperty::read(line).or_else(|| IcalProperty::of_time(line));
            let Some(property) = property else { continue };
            match property.name.as_str() {
                "BEGIN" if open.len() >= DEEPEST => return Err(IcalReadError::TooDeep(index + 1)),
                "BEGIN" => open.push(Self::new(&property.value.trim().to_ascii_uppercase())),
                "END" => {
                    let name = property.value.trim().to_ascii_uppercase();
                    let ended = open.pop().filter(|ended| ended.name == name);
                    let ended = ended.ok_or(IcalReadError::NotBegun(index + 1))?;
                    match open.last_mut() {
                        Some(outer) => outer.components.push(ended),
                        None => whole.push(ended),
                    }
                }
                _ => {
                    if let Some(inner) = open.last_mut() {
                        inner.properties.push(property);
                    }
                }
            }
        }
        match open.pop() {
            Some(cut) => Err(IcalReadError::CutOff(cut.name)),
            None => Ok(whole),
        }
    }

    /// The text of it, in lines as the standard has them.
    pub fn write(&self) -> String {
        let mut out = String::new();
        self.append(&mut out);
        out
    }

    fn append(&self, out: &mut String) {
        IcalProperty::new("BEGIN", self.name.as_str()).write(out);
        for property in &self.properties {
            property.write(out);
        }
        for component in &self.components {
            component.append(out);
        }
        IcalProperty::new("END", self.name.as_str()).write(out);
    }

    /// The first property of a name.
    pub fn get(&self, name: &str) -> Option<&IcalProperty> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// The properties of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a IcalProperty> {
        self.properties.iter().filter(move |property| property.name == name)
    }

    /// The first property of a name as TEXT, if there is anything in it.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(IcalProperty::as_text).filter(|text| !text.is_empty())
    }

    /// Sets the one property of its name.
    pub fn set(&mut self, property: IcalProperty) {
        let place = self.properties.iter().position(|known| known.name == property.name);
        self.remove(&property.name);
        let place = place.unwrap_or(self.properties.len()).min(self.properties.len());
        self.properties.insert(place, property);
    }

    pub fn push(&mut self, property: IcalProperty) {
        self.properties.push(property);
    }

    /// Takes all properties of a name away.
    pub fn remove(&mut self, name: &str) {
        self.properties.retain(|property| property.name != name);
    }
}
