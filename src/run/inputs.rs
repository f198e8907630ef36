//! Binding inputs: which value from a file or from the command line is which.

use pir_ir::{Diagnostic, nearest};

use super::program::{Input, type_text};
use super::value::{Value, stream_of};
use crate::arrays::{Array, Number};

/// What may be bound, in the order of precedence: a value from the command line goes before one from a file, and a
/// later one before an earlier one.
#[derive(Debug, Default)]
pub struct Given {
    /// From the command line.
    pub values: Vec<(String, Value)>,
    /// From files.
    pub arrays: Vec<(String, Array)>,
    /// The seed of random values.
    pub seed: u64,
}

/// Finds the value of each input.
///
/// # Errors
/// Inputs without a value or with a wrong one, and values of inputs that there are not.
pub fn bind(inputs: &[Input], given: &Given) -> Result<Vec<Array>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for (name, _) in &given.values {
        if !inputs.iter().any(|input| input.is_called(name)) {
            errors.push(no_input(name, inputs));
        }
    }
    let mut bound = Vec::with_capacity(inputs.len());
    let mut missing = Vec::new();
    for input in inputs {
        let value = given.values.iter().rev().find(|(name, _)| input.is_called(name));
        let result = match value {
            Some((_, value)) => from_value(input, value, given.seed),
            None => match from_files(input, &given.arrays) {
                Some(array) => check(input, array),
                None => {
                    missing.push(input);
                    continue;
                }
            },
        };
        match result {
            Ok(array) => bound.push(array),
            Err(error) => errors.push(*error),
        }
    }
    if !missing.is_empty() {
        errors.push(unbound(&missing, &given.arrays));
    }
    if errors.is_empty() { Ok(bound) } else { Err(errors) }
}

fn no_input(name: &str, inputs: &[Input]) -> Diagnostic {
    let error = Diagnostic::error("unknown-input", format!("there is no input `{name}`"));
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => error.help("the program has no inputs"),
        None => error.help(format!("the program has {}", names.join(", "))),
    }
}

/// One error for all inputs without a value.
fn unbound(missing: &[&Input], arrays: &[(String, Array)]) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|input| format!("`{}`", input.name)).collect();
    let mut error = Diagnostic::error(
        "unbound-input",
        match &names[..] {
            [one] => format!("the input {one} has no value"),
            several => format!("the inputs {} have no value", several.join(", ")),
        },
    );
    for input in missing {
        error = error.label(input.span, format!("`{}` is {}", input.name, input.type_text()));
    }
    for input in missing {
        let file_names = arrays.iter().map(|(name, _)| name.as_str());
        if let Some(near) = nearest(&input.name, file_names) {
            error = error.note(format!("the files have `{near}`, not `{}`", input.name));
        }
    }
    let example = missing.first().map_or("x", |input| input.name.as_str());
    error.help(format!(
        "give a value: `--input {example}=rand`, `{example}=ones`, `{example}=0.5`, `{example}=[1, 2]`, or a file with it: \
         `--inputs FILE.npz`"
    ))
}

/// In archives written by tests and exporters, names may say what they are names of.
const PREFIXES: [&str; 3] = ["", "in:", "param:"];

fn from_files<'a>(input: &Input, arrays: &'a [(String, Array)]) -> Option<&'a Array> {
    PREFIXES.iter().find_map(|prefix| {
        let is_it = |name: &str| name.strip_prefix(prefix).is_some_and(|name| input.is_called(name));
        arrays
            .iter()
            .rev()
            .find(|(name, _)| is_it(name))
            .map(|(_, array)| array)
    })
}

/// Whether an array is what the program declares.
fn check(input: &Input, array: &Array) -> Result<Array, Box<Diagnostic>> {
    let fits = array.shape.len() == input.shape.len()
        && array
            .shape
            .iter()
            .zip(&input.shape)
            .all(|(&found, &declared)| declared < 0 || usize::try_from(declared) == Ok(found));
    let shape: Vec<i64> = array.shape.iter().map(|&extent| extent as i64).collect();
    let found = type_text(&shape, array.element, input.tensor || !shape.is_empty());
    let what = match (fits, array.element == input.element) {
        (true, true) => return Ok(array.clone()),
        (false, _) => "shape",
        (true, false) => "element type",
    };
    let error = mismatch(
        input,
        format!("the value of `{}` has another {what}: {found}", input.name),
    );
    Err(Box::new(match what {
        "shape" => error.help("the extents must be those that the program declares; `?` stands for any"),
        _ => error.help(format!("convert the file, or declare the input as {found}")),
    }))
}

fn mismatch(input: &Input, message: String) -> Diagnostic {
    Diagnostic::error("input-mismatch", message).label(input.span, format!("`{}` is {}", input.name, input.type_text()))
}

fn from_value(input: &Input, value: &Value, seed: u64) -> Result<Array, Box<Diagnostic>> {
    let shape: Vec<usize> = match value {
        Value::List { shape, .. } => shape.clone(),
        _ => input
            .shape
            .iter()
            .map(|&extent| usize::try_from(extent))
            .collect::<Result<_, _>>()
            .map_err(|_| {
                mismatch(
                    input,
                    format!("the shape of `{}` is only known from its value", input.name),
                )
                .help("give a list like `[[1, 2], [3, 4]]`, or a file with `--inputs`")
            })?,
    };
    let count = shape
        .iter()
        .try_fold(1usize, |product, &extent| product.checked_mul(extent))
        .filter(|&count| count <= MAX_COUNT)
        .ok_or_else(|| mismatch(input, format!("`{}` is too large", input.name)))?;
    let random = input.element.is_float();
    let mut numbers = value.numbers(count, stream_of(seed, &input.name), random);
    if matches!(value, Value::Rand) && input.element == crate::arrays::Element::Bool {
        numbers = numbers
            .into_iter()
            .map(|n| Number::Bool(n.as_i64().is_some_and(|i| i % 2 == 1)))
            .collect();
    }
    let array = Array::from_numbers(input.element, shape, &numbers).map_err(|number| {
        mismatch(
            input,
            format!("`{}` cannot have the value {}", input.name, number.as_f64()),
        )
        .help(format!("its elements are of the type {}", input.element.name()))
    })?;
    match array {
        Some(array) => check(input, &array),
        None => Err(Box::new(mismatch(
            input,
            format!("the list for `{}` has no shape", input.name),
        ))),
    }
}

/// More elements than this were not meant to be filled with one number.
const MAX_COUNT: usize = 1 << 33;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::Element;
    use pir_ir::Span;

    fn input(name: &str, shape: &[i64], element: Element) -> Input {
        Input {
            name: name.to_owned(),
            aliases: vec![format!("%{name}_1")],
            shape: shape.to_vec(),
            element,
            tensor: true,
            stop_gradient: false,
            span: Span::new(1, 2),
        }
    }

    fn given(values: &[(&str, &str)]) -> Given {
        Given {
            values: values
                .iter()
                .map(|(name, text)| ((*name).to_owned(), Value::parse(text).unwrap()))
                .collect(),
            ..Given::default()
        }
    }

    fn bound(shape: &[i64], element: Element, text: &str) -> Result<String, String> {
        match bind(&[input("x", shape, element)], &given(&[("x", text)])) {
            Ok(arrays) => Ok(arrays[0].to_text(100)),
            Err(errors) => Err(errors[0].message.clone()),
        }
    }

    #[test]
    fn values_take_the_declared_shape() {
        assert_eq!(bound(&[2, 2], Element::F32, "0.5").unwrap(), "[[0.5, 0.5], [0.5, 0.5]]");
        assert_eq!(bound(&[3], Element::I64, "ones").unwrap(), "[1, 1, 1]");
        assert_eq!(bound(&[], Element::Bool, "true").unwrap(), "true");
        assert_eq!(bound(&[-1, 2], Element::F64, "[[1,2],[3,4],[5,6]]").unwrap().len(), 36);
        assert_eq!(bound(&[2, 0], Element::F32, "rand").unwrap(), "[]");
    }

    #[test]
    fn wrong_values_are_told() {
        let error = |shape: &[i64], element, text| bound(shape, element, text).unwrap_err();
        assert_eq!(
            error(&[3], Element::F32, "[1,2]"),
            "the value of `x` has another shape: tensor<2xf32>"
        );
        assert_eq!(
            error(&[], Element::F32, "[1]"),
            "the value of `x` has another shape: tensor<1xf32>"
        );
        assert_eq!(error(&[2], Element::I32, "0.5"), "`x` cannot have the value 0.5");
        assert_eq!(
            error(&[-1], Element::F32, "ones"),
            "the shape of `x` is only known from its value"
        );
        assert_eq!(error(&[i64::MAX, 4], Element::F32, "ones"), "`x` is too large");
    }

    #[test]
    fn names_that_are_not_there_are_told() {
        let inputs = [input("weight", &[1], Element::F32), input("bias", &[1], Element::F32)];
        let errors = bind(&inputs, &given(&[("wieght", "ones"), ("%bias_1", "1")])).unwrap_err();
        assert_eq!(errors[0].help.as_deref(), Some("did you mean `weight`?"));
        assert_eq!(errors[1].message, "the input `weight` has no value");
        assert_eq!(errors[1].labels[0].text, "`weight` is tensor<1xf32>");
    }

    #[test]
    fn files_are_searched_behind_the_command_line() {
        let array = |value| {
            Array::from_numbers(Element::F32, vec![1], &[Number::Int(value)])
                .unwrap()
                .unwrap()
        };
        let mut given = given(&[("a", "5")]);
        given.arrays = vec![
            ("a".to_owned(), array(1)),
            ("in:b".to_owned(), array(2)),
            ("param:c".to_owned(), array(3)),
            ("c".to_owned(), array(4)),
        ];
        let inputs = ["a", "b", "c"].map(|name| input(name, &[1], Element::F32));
        let texts: Vec<_> = bind(&inputs, &given).unwrap().iter().map(|a| a.to_text(9)).collect();
        assert_eq!(texts, ["[5.0]", "[2.0]", "[4.0]"]);
        let error = &bind(&[input("b", &[1], Element::F64)], &given).unwrap_err()[1];
        assert_eq!(
            error.message,
            "the value of `b` has another element type: tensor<1xf32>"
        );
    }
}
