//! The configuration file: text in, checked value or located error out.
//!
//! TOML parsers report what is wrong as prose. Here serde reads the parsed document through a deserializer
//! of its own, whose errors keep their parts (the known keys, the expected value, the place), so that the
//! sentence the user gets can name line, key and the nearest right word. It knows no key but the one whose
//! items must have different names; what the keys are and mean stands in the types.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize as _;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Expected, IntoDeserializer as _, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::{Error, Item, Place};
use super::suggestion::Suggestion;
use super::{Config, values};

/// Reads a configuration from the bytes of `file`.
pub(super) fn parse(bytes: &[u8], file: &Path) -> Result<Config, Error> {
    let place = |offset| Place { file: file.to_owned(), line: line(bytes, offset) };
    let text = std::str::from_utf8(bytes).map_err(|error| Error::NotUtf8 { place: place(error.valid_up_to()) })?;
    let document = DeTable::parse(text).map_err(|error| {
        let place = place(error.span().map_or(0, |span| span.start));
        let key = text.lines().nth(place.line - 1).and_then(|line| line.split_once('='));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Error::Syntax { place, key: key.map(|(key, _)| key.trim().to_owned()), message }
    })?;
    let root = document.span();
    let value = Spanned::new(root.clone(), DeValue::Table(document.into_inner()));
    let config = Config::deserialize(Located { text, value: &value }).map_err(|problem| {
        let start = problem.span.as_ref().unwrap_or(&root).start;
        problem.into_error(place(start))
    })?;
    match second_of_a_name(value.get_ref()) {
        Some((name, span)) => Err(Error::SameName { place: place(span.start), name: name.to_owned() }),
        None => Ok(config),
    }
}

fn line(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

/// Finds the first participant with the name of an earlier one.
fn second_of_a_name<'a>(document: &'a DeValue<'_>) -> Option<(&'a str, Range<usize>)> {
    let participants = document.get("participants")?.get_ref().as_array()?;
    let mut seen = std::collections::HashSet::new();
    participants.iter().find_map(|participant| {
        let name = participant.get_ref().get("name")?;
        let text = name.get_ref().as_str()?;
        (!seen.insert(text)).then(|| (text, name.span()))
    })
}

/// What serde found wrong, with what is known of the place so far.
#[derive(Debug)]
struct Problem {
    what: What,
    span: Option<Range<usize>>,
    key: Option<String>,
    item: Item,
}

#[derive(Debug)]
enum What {
    UnknownKey { key: String, known: &'static [&'static str] },
    UnknownValue { value: String, known: &'static [&'static str] },
    MissingKey { key: &'static str },
    WrongValue { expected: String, found: Option<String> },
}

impl Problem {
    fn new(what: What) -> Self {
        Self { what, span: None, key: None, item: Item::Whole }
    }

    /// Adds the innermost value that the problem is about.
    fn at(mut self, value: Located<'_, '_>) -> Self {
        if self.span.is_none() {
            self.span = Some(value.value.span());
            if let What::WrongValue { found, .. } = &mut self.what {
                found.get_or_insert_with(|| value.shown());
            }
        }
        self
    }

    fn into_error(self, place: Place) -> Error {
        let key = self.key.unwrap_or_default();
        match self.what {
            What::UnknownKey { key, known } => {
                Error::UnknownKey { suggestion: Suggestion::for_key(&key, known), place, key }
            }
            What::UnknownValue { value, known } => {
                Error::UnknownValue { suggestion: Suggestion::among(&value, known), place, key, value }
            }
            What::MissingKey { key } => Error::MissingKey { place, key },
            What::WrongValue { expected, found } => {
                Error::WrongValue { place, key, item: self.item, expected, found: found.unwrap_or_default() }
            }
        }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.what)
    }
}

impl std::error::Error for Problem {}

impl serde::de::Error for Problem {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(What::WrongValue { expected: message.to_string(), found: None })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = match expected.to_string().as_str() {
            "a boolean" => "true or false".to_owned(),
            "u64" => values::COUNT.to_owned(),
            words => words.to_owned(),
        };
        let found = match found {
            Unexpected::Other(words) => Some(words.to_owned()),
            _ => None,
        };
        Self::new(What::WrongValue { expected, found })
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::UnknownValue { value: variant.to_owned(), known })
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(What::UnknownKey { key: field.to_owned(), known })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(What::MissingKey { key })
    }
}

/// A value and the text it stands in.
#[derive(Debug, Clone, Copy)]
struct Located<'a, 'i> {
    text: &'a str,
    value: &'a Spanned<DeValue<'i>>,
}

impl Located<'_, '_> {
    /// Returns what stands in the file, cut to what fits into a sentence.
    fn shown(self) -> String {
        let written = self.text.get(self.value.span()).unwrap_or_default();
        let short = !written.contains('\n') && written.chars().count() <= 60;
        match self.value.get_ref() {
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) if !short => "an array".to_owned(),
            _ if short => written.to_owned(),
            _ => written.chars().take_while(|character| *character != '\n').take(60).chain(['…']).collect(),
        }
    }
}

impl<'de> Deserializer<'de> for Located<'_, '_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let wrong = |visitor: &V| serde::de::Error::invalid_type(Unexpected::Unit, visitor);
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => Err(wrong(&visitor)),
            },
            DeValue::Float(_) | DeValue::Datetime(_) => Err(wrong(&visitor)),
            DeValue::Array(items) => visitor.visit_seq(Items { text: self.text, items: items.iter() }),
            DeValue::Table(table) => visitor.visit_map(Entries::new(self.text, table)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        // A derived struct would take an array for its fields in order.
        match self.value.get_ref() {
            DeValue::Table(_) => self.deserialize_any(visitor),
            _ => Err(serde::de::Error::invalid_type(Unexpected::Unit, &"a table")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let DeValue::String(text) = self.value.get_ref() {
            return visitor.visit_enum(StrDeserializer::new(text));
        }
        let quoted: Vec<String> = variants.iter().map(|variant| format!("\"{variant}\"")).collect();
        Err(serde::de::Error::invalid_type(Unexpected::Unit, &quoted.join(" or ").as_str()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The items of an array, one after the other.
struct Items<'a, 'i> {
    text: &'a str,
    items: std::slice::Iter<'a, Spanned<DeValue<'i>>>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        let Some(value) = self.items.next() else { return Ok(None) };
        let located = Located { text: self.text, value };
        let item = |mut problem: Problem| {
            if problem.key.is_none() {
                problem.item = Item::Inner;
            }
            problem.at(located)
        };
        seed.deserialize(located).map(Some).map_err(item)
    }
}

/// The entries of a table in the order of the file, so that the first mistake is named first.
struct Entries<'a, 'i> {
    text: &'a str,
    rest: std::vec::IntoIter<Entry<'a, 'i>>,
    last: Option<Entry<'a, 'i>>,
}

type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>);

impl<'a, 'i> Entries<'a, 'i> {
    fn new(text: &'a str, table: &'a DeTable<'i>) -> Self {
        let mut entries: Vec<Entry<'a, 'i>> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        Self { text, rest: entries.into_iter(), last: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        self.last = self.rest.next();
        let Some((key, _)) = self.last else { return Ok(None) };
        let name: StrDeserializer<'_, Problem> = key.get_ref().as_ref().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|problem| Problem { span: Some(key.span()), ..problem })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let Some((key, value)) = self.last else {
            return Err(serde::de::Error::custom("asked for a value before its key"));
        };
        let located = Located { text: self.text, value };
        seed.deserialize(located).map_err(|problem| {
            let mut problem = problem.at(located);
            problem.key.get_or_insert_with(|| key.get_ref().to_string());
            problem
        })
    }
}
