//! Binds inputs to values from files and the command line.

use pir_interp::kernels::dtype_of;
use pir_interp::{InputSpec, Tensor};
use pir_ir::text::print_type;
use pir_ir::{Context, Diagnostic, Span, nearest};

use super::value::{Value, stream_of};

/// The values to bind, by precedence: the command line comes before files, and a later value before an earlier one.
#[derive(Debug, Default)]
pub struct Given {
    /// From the command line.
    pub values: Vec<(String, Value)>,
    /// From files.
    pub tensors: Vec<(String, Tensor)>,
    /// The seed of random values.
    pub seed: u64,
}

/// Determines the value of each input.
///
/// # Errors
/// Inputs without a value or with a wrong one, and values for unknown inputs.
pub fn bind(ctx: &Context, inputs: &[InputSpec], given: &Given) -> Result<Vec<Tensor>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for (name, _) in &given.values {
        if !inputs.iter().enumerate().any(|(at, input)| is_called(input, at, name)) {
            errors.push(no_input(name, inputs));
        }
    }
    let mut bound = Vec::with_capacity(inputs.len());
    let mut missing = Vec::new();
    for (at, spec) in inputs.iter().enumerate() {
        let input = Input { ctx, spec };
        let value = given.values.iter().rev().find(|(name, _)| is_called(spec, at, name));
        let result = match value {
            Some((_, value)) => input.convert(value, given.seed),
            None => match from_files(spec, &given.tensors) {
                Some(tensor) => input.check(tensor),
                // A tensor without elements needs no value. PaddlePaddle's layers have such parameters.
                None if input.extents().contains(&0) => input.convert(&Value::Rand, given.seed),
                None => {
                    missing.push(input);
                    continue;
                }
            },
        };
        match result {
            Ok(tensor) => bound.push(tensor),
            Err(error) => errors.push(*error),
        }
    }
    if !missing.is_empty() {
        errors.push(unbound(&missing, &given.tensors));
    }
    if errors.is_empty() { Ok(bound) } else { Err(errors) }
}

/// Whether the input at position `at` matches this name: its own name, with or without `%`, or its position.
fn is_called(input: &InputSpec, at: usize, name: &str) -> bool {
    input.name == name.strip_prefix('%').unwrap_or(name) || input.name == name || name.parse() == Ok(at)
}

fn no_input(name: &str, inputs: &[InputSpec]) -> Diagnostic {
    let error = Diagnostic::error("unknown-input", format!("there is no input `{name}`"));
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => error.help("the program has no inputs"),
        None => error.help(format!("the program has {}", names.join(", "))),
    }
}

/// One error for all inputs without a value.
fn unbound(missing: &[Input<'_>], tensors: &[(String, Tensor)]) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|input| format!("`{}`", input.spec.name)).collect();
    let mut error = Diagnostic::error(
        "unbound-input",
        match &names[..] {
            [one] => format!("the input {one} has no value"),
            several => format!("the inputs {} have no value", several.join(", ")),
        },
    );
    for input in missing {
        error = input.shown(error);
    }
    for input in missing {
        let file_names = tensors.iter().map(|(name, _)| name.as_str());
        if let Some(near) = nearest(&input.spec.name, file_names) {
            error = error.note(format!("the files have `{near}`, not `{}`", input.spec.name));
        }
    }
    let example = missing.first().map_or("x", |input| input.spec.name.as_str());
    error.help(format!(
        "give a value: `--input {example}=rand`, `{example}=ones`, `{example}=0.5`, `{example}=[1, 2]`, or a file with it: \
         `--inputs FILE.npz`"
    ))
}

/// Prefixes of names in archives written by tests and exporters.
const PREFIXES: [&str; 3] = ["", "in:", "param:"];

fn from_files<'a>(input: &InputSpec, tensors: &'a [(String, Tensor)]) -> Option<&'a Tensor> {
    PREFIXES.iter().find_map(|prefix| {
        let is_it = |name: &str| name.strip_prefix(prefix).is_some_and(|name| input.name == name);
        tensors
            .iter()
            .rev()
            .find(|(name, _)| is_it(name))
            .map(|(_, tensor)| tensor)
    })
}

/// An input with the information for messages.
struct Input<'a> {
    ctx: &'a Context,
    spec: &'a InputSpec,
}

impl Input<'_> {
    /// Adds the place and the type of the input to a diagnostic.
    fn shown(&self, error: Diagnostic) -> Diagnostic {
        let text = format!("`{}` is {}", self.spec.name, print_type(self.ctx, self.spec.ty));
        // Arguments of functions have no span.
        if self.spec.span == Span::default() {
            error.note(text)
        } else {
            error.label(self.spec.span, text)
        }
    }

    fn error(&self, message: String) -> Diagnostic {
        self.shown(Diagnostic::error("input-mismatch", message))
    }

    /// The declared extents; a negative one is dynamic.
    fn extents(&self) -> &[i64] {
        self.ctx.as_shaped(self.spec.ty).map_or(&[], |(shape, _)| shape)
    }

    /// Checks a tensor against the declared type.
    fn check(&self, tensor: &Tensor) -> Result<Tensor, Box<Diagnostic>> {
        let extents = self.extents();
        let fits = tensor.rank() == extents.len()
            && tensor
                .shape()
                .iter()
                .zip(extents)
                .all(|(&found, &declared)| declared < 0 || usize::try_from(declared) == Ok(found));
        let name = &self.spec.name;
        let found = type_text(tensor);
        if !fits {
            let error = self.error(format!("the value of `{name}` has the wrong shape: {found}"));
            return Err(Box::new(
                error.help("the shape must match the declared one; `?` matches any extent"),
            ));
        }
        if dtype_of(self.ctx, self.spec.ty) != Some(tensor.dtype()) {
            let error = self.error(format!("the value of `{name}` has the wrong element type: {found}"));
            return Err(Box::new(error.help(format!(
                "convert the file, or declare the input with element type {}",
                tensor.dtype().name()
            ))));
        }
        Ok(tensor.clone())
    }

    fn convert(&self, value: &Value, seed: u64) -> Result<Tensor, Box<Diagnostic>> {
        let name = &self.spec.name;
        let Some(dtype) = dtype_of(self.ctx, self.spec.ty) else {
            let error = self.error(format!("`{name}` is not a tensor"));
            return Err(Box::new(error.help("only numbers and tensors can be inputs")));
        };
        let declared: Result<Vec<usize>, _> = self.extents().iter().map(|&extent| usize::try_from(extent)).collect();
        let shape = match (declared, value) {
            (Ok(shape), _) => shape,
            (Err(_), Value::List { shape, .. }) => shape.clone(),
            (Err(_), _) => {
                let error = self.error(format!("the shape of `{name}` is dynamic"));
                return Err(Box::new(
                    error.help("give a list like `[[1, 2], [3, 4]]`, or a file with `--inputs`"),
                ));
            }
        };
        match value.tensor(dtype, &shape, stream_of(seed, name)) {
            Ok(tensor) => self.check(&tensor),
            Err(problem) => Err(Box::new(
                self.error(format!("`{name}` cannot have this value: {problem}")),
            )),
        }
    }
}

/// The type of a tensor in the syntax of the text format.
fn type_text(tensor: &Tensor) -> String {
    let extents: String = tensor.shape().iter().map(|extent| format!("{extent}x")).collect();
    format!("tensor<{extents}{}>", tensor.dtype().name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pir_interp::DType;
    use pir_ir::Type;

    fn input(ctx: &Context, name: &str, shape: &[i64], elem: Type) -> InputSpec {
        InputSpec {
            name: name.to_owned(),
            ty: ctx.tensor(shape, elem),
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

    fn bound(shape: &[i64], elem: Type, text: &str) -> Result<Vec<f64>, String> {
        let ctx = pir_dialects::context();
        match bind(&ctx, &[input(&ctx, "x", shape, elem)], &given(&[("x", text)])) {
            Ok(tensors) => Ok(tensors[0].to_f64()),
            Err(errors) => Err(errors[0].message.clone()),
        }
    }

    #[test]
    fn values_take_the_declared_shape() {
        assert_eq!(bound(&[2, 2], Type::F32, "0.5"), Ok(vec![0.5; 4]));
        assert_eq!(bound(&[3], Type::I64, "ones"), Ok(vec![1.0; 3]));
        assert_eq!(bound(&[], Type::I1, "true"), Ok(vec![1.0]));
        assert_eq!(bound(&[-1, 2], Type::F64, "[[1,2],[3,4],[5,6]]").unwrap().len(), 6);
        assert_eq!(bound(&[2, 0], Type::F32, "rand"), Ok(vec![]));
    }

    #[test]
    fn wrong_values_are_told() {
        let error = |shape: &[i64], elem, text| bound(shape, elem, text).unwrap_err();
        assert_eq!(
            error(&[3], Type::F32, "[1,2]"),
            "the value of `x` has the wrong shape: tensor<2xf32>"
        );
        assert_eq!(
            error(&[], Type::F32, "[1]"),
            "the value of `x` has the wrong shape: tensor<1xf32>"
        );
        assert_eq!(
            error(&[2], Type::I32, "0.5"),
            "`x` cannot have this value: i32 has no element 0.5"
        );
        assert_eq!(error(&[-1], Type::F32, "ones"), "the shape of `x` is dynamic");
        assert!(error(&[i64::MAX, 4], Type::F32, "ones").contains("larger than"));
    }

    #[test]
    fn what_has_no_elements_needs_no_value() {
        let ctx = pir_dialects::context();
        let inputs = [input(&ctx, "state", &[2, 0], Type::F32)];
        assert_eq!(bind(&ctx, &inputs, &given(&[])).unwrap()[0].shape(), [2, 0]);
        assert!(bind(&ctx, &[input(&ctx, "state", &[-1, 0], Type::F32)], &given(&[])).is_err());
    }

    #[test]
    fn names_that_are_not_there_are_told() {
        let ctx = pir_dialects::context();
        let inputs = ["weight", "bias"].map(|name| input(&ctx, name, &[1], Type::F32));
        let errors = bind(&ctx, &inputs, &given(&[("wieght", "ones"), ("%bias", "1")])).unwrap_err();
        assert_eq!(errors[0].help.as_deref(), Some("did you mean `weight`?"));
        assert_eq!(errors[1].message, "the input `weight` has no value");
        assert_eq!(errors[1].labels[0].text, "`weight` is tensor<1xf32>");
        assert!(bind(&ctx, &inputs, &given(&[("0", "ones"), ("1", "1")])).is_ok());
        assert!(bind(&ctx, &inputs, &given(&[("0", "ones"), ("2", "1")])).is_err());
    }

    #[test]
    fn files_are_searched_behind_the_command_line() {
        let ctx = pir_dialects::context();
        let tensor = |value| Tensor::full(&[1], DType::F32, value).unwrap();
        let mut given = given(&[("a", "5")]);
        given.tensors = vec![
            ("a".to_owned(), tensor(1.0)),
            ("in:b".to_owned(), tensor(2.0)),
            ("param:c".to_owned(), tensor(3.0)),
            ("c".to_owned(), tensor(4.0)),
        ];
        let inputs = ["a", "b", "c"].map(|name| input(&ctx, name, &[1], Type::F32));
        let bound = bind(&ctx, &inputs, &given).unwrap();
        assert_eq!(bound.iter().map(|t| t.to_f64()[0]).collect::<Vec<_>>(), [5.0, 2.0, 4.0]);
        let error = &bind(&ctx, &[input(&ctx, "b", &[1], Type::F64)], &given).unwrap_err()[1];
        assert_eq!(
            error.message,
            "the value of `b` has the wrong element type: tensor<1xf32>"
        );
    }
}
