//! Directives: of the module, of functions, and declarations.

use super::ast::{Function, Linkage, Pointer, Source, Variable};
use super::body;
use super::cursor::Cursor;
use super::expression;
use super::initial;
use super::lexer::Kind;
use super::position::ParseError;
use super::types::{Space, Type};

/// Reads a whole text.
pub(super) fn source(cursor: &mut Cursor<'_>) -> Result<Source, ParseError> {
    let mut source = Source::default();
    if !cursor.is_dot("version") {
        return cursor.wrong("the text must start with `.version`");
    }
    while cursor.peek().kind != Kind::End {
        item(cursor, &mut source)?;
    }
    match source.target.is_empty() {
        true => cursor.wrong("`.target` is missing"),
        false => Ok(source),
    }
}

fn item(cursor: &mut Cursor<'_>, source: &mut Source) -> Result<(), ParseError> {
    if cursor.eat("@") {
        // @@DWARF, debugging data of old texts: it ends with its line.
        let line = cursor.at().line;
        while cursor.peek().kind != Kind::End && cursor.at().line == line {
            cursor.take();
        }
        return Ok(());
    }
    if cursor.peek().kind != Kind::Dot {
        return cursor.wrong("a directive is expected");
    }
    match cursor.peek().text {
        "version" => source.version = version(cursor)?,
        "target" => source.target = target(cursor)?,
        _ if source.target.is_empty() => {
            return cursor.wrong("`.target` must come before other directives");
        }
        "address_size" => {
            cursor.take();
            match cursor.number("an address size")? {
                32 | 64 => {}
                _ => return cursor.wrong("the address size is neither 32 nor 64"),
            }
        }
        "file" => source.files.push(file(cursor)?),
        "section" => section(cursor)?,
        "pragma" => pragma(cursor)?,
        "alias" => {
            cursor.take();
            let name = cursor.word("a name")?;
            cursor.expect(",")?;
            let function = cursor.word("a function")?;
            cursor.expect(";")?;
            source.aliases.push((name, function));
        }
        _ => declaration(cursor, source)?,
    }
    Ok(())
}

fn version(cursor: &mut Cursor<'_>) -> Result<(u32, u32), ParseError> {
    cursor.take();
    let at = cursor.at();
    let text = cursor.expect_kind(Kind::Number, "a version")?;
    let parts = text.split_once('.');
    let parsed = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parsed.ok_or_else(|| ParseError::new(at, format!("`{text}` is not a version")))
}

fn target(cursor: &mut Cursor<'_>) -> Result<String, ParseError> {
    cursor.take();
    let target = cursor.word("a target")?;
    while cursor.eat(",") {
        cursor.word("a target or an option")?;
    }
    Ok(target)
}

fn file(cursor: &mut Cursor<'_>) -> Result<(u32, String), ParseError> {
    cursor.take();
    let number = cursor.number("a file's number")?;
    let name = cursor.expect_kind(Kind::Text, "a file's name")?.to_owned();
    while cursor.eat(",") {
        // A time stamp, a size.
        cursor.expect_kind(Kind::Number, "a number")?;
    }
    Ok((number, name))
}

/// `.section .debug_info { ... }`: passed over.
pub(super) fn section(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.take();
    if !matches!(cursor.peek().kind, Kind::Dot | Kind::Word) {
        return cursor.wrong("a section's name is expected");
    }
    cursor.take();
    cursor.expect("{")?;
    let mut depth = 1u32;
    while depth > 0 {
        let token = cursor.take();
        match (token.kind, token.text) {
            (Kind::End, _) => return cursor.wrong("`}` is expected"),
            (Kind::Mark, "{") => depth += 1,
            (Kind::Mark, "}") => depth -= 1,
            _ => {}
        }
    }
    Ok(())
}

/// `.pragma "nounroll";`
pub(super) fn pragma(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.take();
    cursor.expect_kind(Kind::Text, "a string")?;
    while cursor.eat(",") {
        cursor.expect_kind(Kind::Text, "a string")?;
    }
    cursor.expect(";")
}

fn linkage(cursor: &mut Cursor<'_>) -> Linkage {
    let linkage = match cursor.peek().text {
        _ if cursor.peek().kind != Kind::Dot => Linkage::Internal,
        "extern" => Linkage::Extern,
        "visible" => Linkage::Visible,
        "weak" => Linkage::Weak,
        "common" => Linkage::Common,
        _ => Linkage::Internal,
    };
    if linkage != Linkage::Internal {
        cursor.take();
    }
    linkage
}

fn declaration(cursor: &mut Cursor<'_>, source: &mut Source) -> Result<(), ParseError> {
    let linkage = linkage(cursor);
    if cursor.is_dot("entry") || cursor.is_dot("func") {
        let function = function(cursor)?;
        source.functions.push(function);
        return Ok(());
    }
    for mut variable in variables(cursor)? {
        variable.linkage = linkage;
        source.variables.push(variable);
    }
    Ok(())
}

fn function(cursor: &mut Cursor<'_>) -> Result<Function, ParseError> {
    let at = cursor.at();
    let is_entry = cursor.take().text == "entry";
    let mut all = attributes(cursor)?;
    let returns = match cursor.is_mark("(") {
        true => parameters(cursor)?,
        false => Vec::new(),
    };
    let name = cursor.word("a name")?;
    let parameters = match cursor.is_mark("(") {
        true => parameters(cursor)?,
        false => Vec::new(),
    };
    all.append(&mut attributes(cursor)?);
    let body = match cursor.is_mark("{") {
        true => Some(body::body(cursor)?),
        false => {
            cursor.expect(";")?;
            None
        }
    };
    Ok(Function {
        is_entry,
        name,
        returns,
        parameters,
        attributes: all,
        body,
        at,
    })
}

/// `.maxntid 128, 1, 1 .minnctapersm 2 .noreturn`
pub(super) fn attributes(cursor: &mut Cursor<'_>) -> Result<Vec<(String, Vec<u32>)>, ParseError> {
    const KNOWN: [&str; 16] = [
        "maxnreg",
        "maxntid",
        "reqntid",
        "minnctapersm",
        "maxnctapersm",
        "noreturn",
        "reqnctapercluster",
        "explicitcluster",
        "maxclusterrank",
        "blocksareclusters",
        "abi_preserve",
        "abi_preserve_control",
        "unified",
        "uft",
        "attribute",
        "pragma",
    ];
    let mut attributes = Vec::new();
    while cursor.peek().kind == Kind::Dot {
        let name = cursor.peek().text;
        match name {
            "pragma" => pragma(cursor)?,
            "attribute" => attribute(cursor)?,
            _ if KNOWN.contains(&name) => {
                cursor.take();
                attributes.push((name.to_owned(), body::numbers(cursor)?));
            }
            _ => return cursor.wrong("an attribute of a function is expected"),
        }
    }
    Ok(attributes)
}

/// `.attribute(.managed, .unified(1, 2))`
fn attribute(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.take();
    cursor.expect("(")?;
    loop {
        cursor.expect_kind(Kind::Dot, "an attribute")?;
        if cursor.eat("(") {
            body::numbers(cursor)?;
            cursor.expect(")")?;
        }
        if !cursor.eat(",") {
            return cursor.expect(")");
        }
    }
}

/// `(.param .u64 x, .param .align 4 .b8 y[8])`
pub(super) fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Variable>, ParseError> {
    cursor.expect("(")?;
    let mut parameters = Vec::new();
    if cursor.eat(")") {
        return Ok(parameters);
    }
    loop {
        let head = head(cursor)?;
        parameters.push(named(cursor, head)?);
        if !cursor.eat(",") {
            cursor.expect(")")?;
            return Ok(parameters);
        }
    }
}

/// `.reg .b32 %r<10>, %x;` and other declarations, with their semicolon.
pub(super) fn variables(cursor: &mut Cursor<'_>) -> Result<Vec<Variable>, ParseError> {
    let head = head(cursor)?;
    let mut variables = Vec::new();
    loop {
        let mut variable = named(cursor, head.clone())?;
        if cursor.eat("=") {
            variable.initial = Some(initial::initial(cursor)?);
        }
        variables.push(variable);
        if !cursor.eat(",") {
            cursor.expect(";")?;
            return Ok(variables);
        }
    }
}

/// What stands before the name: `.global .align 4 .v2 .f32`.
fn head(cursor: &mut Cursor<'_>) -> Result<Variable, ParseError> {
    let at = cursor.at();
    let space = match Space::of(cursor.peek().text) {
        Some(space) if cursor.peek().kind == Kind::Dot => space,
        _ => return cursor.wrong("a state space is expected"),
    };
    cursor.take();
    let mut head = Variable {
        linkage: Linkage::Internal,
        space,
        align: None,
        kind: Type::B8,
        vector: 1,
        name: String::new(),
        extents: Vec::new(),
        count: None,
        pointer: None,
        initial: None,
        at,
    };
    let mut kind = None;
    while cursor.peek().kind == Kind::Dot {
        let word = cursor.peek().text;
        match word {
            "align" => {
                cursor.take();
                head.align = Some(alignment(cursor)?);
            }
            "attribute" => attribute(cursor)?,
            "v2" | "v4" | "v8" => {
                cursor.take();
                head.vector = word.as_bytes().get(1).map_or(1, |digit| digit - b'0');
            }
            "ptr" => {
                cursor.take();
                head.pointer = Some(pointer(cursor)?);
            }
            "noalias" => {
                cursor.take();
            }
            _ => match Type::of(word) {
                Some(found) if kind.is_none() => {
                    cursor.take();
                    kind = Some(found);
                }
                _ => return cursor.wrong("a type or a name is expected"),
            },
        }
    }
    match kind {
        Some(kind) => head.kind = kind,
        None => return cursor.wrong("a type is expected"),
    }
    Ok(head)
}

fn alignment(cursor: &mut Cursor<'_>) -> Result<u32, ParseError> {
    let at = cursor.at();
    let align = cursor.number("an alignment")?;
    match align.is_power_of_two() {
        true => Ok(align),
        false => Err(ParseError::new(at, "the alignment is not a power of two")),
    }
}

fn pointer(cursor: &mut Cursor<'_>) -> Result<Pointer, ParseError> {
    let mut pointer = Pointer {
        space: Space::Generic,
        align: 4,
    };
    if let Some(space) = Space::of(cursor.peek().text).filter(|_| cursor.peek().kind == Kind::Dot) {
        cursor.take();
        pointer.space = space;
    }
    if cursor.is_dot("align") {
        cursor.take();
        pointer.align = alignment(cursor)?;
    }
    Ok(pointer)
}

/// The name with what follows it: `x`, `x[4][2]`, `%r<10>`.
fn named(cursor: &mut Cursor<'_>, head: Variable) -> Result<Variable, ParseError> {
    let mut variable = head;
    variable.at = cursor.at();
    variable.name = cursor.word("a name")?;
    if cursor.eat("<") {
        variable.count = Some(cursor.number("a count")?);
        cursor.expect(">")?;
    }
    while cursor.eat("[") {
        let extent = match cursor.is_mark("]") {
            true if variable.extents.is_empty() => 0,
            _ => expression::whole(cursor)?,
        };
        variable.extents.push(extent);
        cursor.expect("]")?;
    }
    Ok(variable)
}
