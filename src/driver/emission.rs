//! The options for writing a program for TensorFlow: the devices of a cluster, and the variables of a SavedModel.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pir_dialects::df::cluster::Cluster;
use pir_dialects::pd;
use pir_interp::Tensor;
use pir_interp::kernels::dtype_of;
use pir_ir::{AttrData, Body, Context, Diagnostic, Elements, Module, OpId, Rewriter};
use pir_translate::graphdef;
use rustc_hash::FxHashMap;

use crate::arrays::{bytes_of, read_arrays};
use crate::formats::To;
use crate::output::write_output;
use crate::source::{SAVED_MODEL, read_file};

/// The treatment of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Parameters {
    /// Variables of the SavedModel, with values from its checkpoint
    Variables,
    /// Inputs of the graph
    Inputs,
    /// Constants, with values from the checkpoint
    Constants,
}

/// The requested output.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The format.
    pub to: To,
    /// The program that was read.
    pub input: &'a str,
    /// The folder of a SavedModel.
    pub variables: Option<&'a str>,
    /// The treatment of parameters.
    pub parameters: Option<Parameters>,
    /// The file of a cluster.
    pub cluster: Option<&'a str>,
    /// The name of the signature.
    pub signature: Option<&'a str>,
}

/// The SavedModel that a program is added to.
#[derive(Debug)]
struct Base {
    folder: PathBuf,
    message: Vec<u8>,
}

/// The options for writing a program.
#[derive(Default, Debug)]
pub struct Emission {
    /// Parameters become constants, with the values in this folder.
    constants: Option<String>,
    variables: bool,
    base: Option<Base>,
    /// The cluster that runs it.
    pub(crate) cluster: Option<Cluster>,
    signature: Option<String>,
}

fn refuse(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("saved-model", message)
}

impl Emission {
    /// Reads what was asked for.
    ///
    /// # Errors
    /// If it does not go together, or cannot be read.
    pub fn new(request: &Request<'_>) -> Result<Self, Diagnostic> {
        let graph = matches!(request.to, To::Graphdef | To::GraphdefText);
        let saved = request.to == To::SavedModel;
        if request.cluster.is_some() && !graph {
            return Err(refuse("`--cluster` is only for TensorFlow graphs").help("add `--emit=graphdef`"));
        }
        if (request.parameters.is_some() || request.variables.is_some()) && !graph && !saved {
            return Err(
                refuse("`--parameters` and `--variables` are only for programs written for TensorFlow")
                    .help("add `--emit=saved-model` or `--emit=graphdef`"),
            );
        }
        if !graph && !saved {
            return Ok(Self::default());
        }
        let read = Path::new(request.input).join(SAVED_MODEL).is_file();
        let folder = request.variables.or(Some(request.input).filter(|_| read));
        let missing = || {
            refuse("the values of the parameters are unknown")
                .help("give the folder of a SavedModel with their values: `--variables FOLDER`")
        };
        let parameters = match (request.parameters, folder) {
            (Some(Parameters::Variables), _) if graph => {
                return Err(
                    refuse("a graph has no variables").help("`--emit=saved-model` writes a model with variables")
                );
            }
            (Some(Parameters::Variables | Parameters::Constants), None) => return Err(missing()),
            (Some(kind), _) => kind,
            (None, Some(_)) if saved => Parameters::Variables,
            (None, _) => Parameters::Inputs,
        };
        let base = folder.filter(|_| saved).map(|folder| -> Result<Base, Diagnostic> {
            let (message, _held) = read_file(&Path::new(folder).join(SAVED_MODEL).to_string_lossy())?;
            Ok(Base {
                folder: PathBuf::from(folder),
                message,
            })
        });
        let cluster = request
            .cluster
            .map(|path| Cluster::read(path).map_err(|why| Diagnostic::error("df-device", why)));
        Ok(Emission {
            constants: folder
                .filter(|_| parameters == Parameters::Constants)
                .map(str::to_owned),
            variables: parameters == Parameters::Variables,
            base: base.transpose()?,
            cluster: cluster.transpose()?,
            signature: request.signature.map(str::to_owned),
        })
    }

    /// Whether parameters become constants.
    pub(crate) fn embeds(&self) -> bool {
        self.constants.is_some()
    }

    /// Gives the parameters of a program the values in the checkpoint, as constants.
    pub(crate) fn embed(&self, module: &mut Module) -> Result<(), Diagnostic> {
        let Some(folder) = &self.constants else { return Ok(()) };
        let values: FxHashMap<String, Tensor> = read_arrays(folder)?.into_iter().collect();
        let ctx = module.ctx.clone();
        let mut pending = vec![&mut module.body];
        while let Some(body) = pending.pop() {
            let is_parameter = |op: &OpId| ctx.op_str(body.op_name(*op)) == pd::Parameter::NAME;
            let parameters: Vec<OpId> = body.walk_all().filter(is_parameter).collect();
            for op in parameters {
                embed_one(&ctx, body, op, &values, folder)?;
            }
            pending.extend(body.isolated_ops_mut().map(|(_, _, body)| body));
        }
        Ok(())
    }

    /// The message of a SavedModel.
    pub(crate) fn saved_model(&self, module: &Module) -> Result<Vec<u8>, Vec<Diagnostic>> {
        graphdef::write_saved(
            module,
            graphdef::Saved {
                base: self.base.as_ref().map(|base| &base.message[..]),
                variables: self.variables,
                signature: self.signature.as_deref(),
            },
        )
    }

    /// Writes the folder of a SavedModel: the message, and what the one has that it was added to. The message comes last, so
    /// that an incomplete folder is none.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn write_folder(&self, output: Option<&str>, message: &[u8]) -> Result<(), Diagnostic> {
        let Some(output) = output.filter(|&o| o != "-") else {
            return Err(refuse("a SavedModel is written to a folder").help("give its name with `-o FOLDER`"));
        };
        let folder = Path::new(output);
        let wrong = |e: std::io::Error| Diagnostic::error("io", format!("cannot write `{output}`: {e}"));
        if folder.exists() {
            if let Some(base) = &self.base
                && folder.canonicalize().ok() == base.folder.canonicalize().ok()
            {
                return Err(refuse(format!("`{output}` is the SavedModel that was read"))
                    .help("give another folder: the output does not contain the Python objects of the input"));
            }
            let empty = fs::read_dir(folder).map_err(wrong)?.next().is_none();
            if !empty && !folder.join(SAVED_MODEL).is_file() {
                return Err(refuse(format!(
                    "`{output}` contains files that do not belong to a SavedModel"
                )));
            }
        }
        fs::create_dir_all(folder).map_err(wrong)?;
        for part in ["variables", "assets"] {
            if let Some(from) = self
                .base
                .as_ref()
                .map(|base| base.folder.join(part))
                .filter(|f| f.is_dir())
            {
                copy_folder(&from, &folder.join(part)).map_err(wrong)?;
            }
        }
        let path = folder.join(SAVED_MODEL);
        write_output(Some(&path.to_string_lossy()), |out| out.write_all(message))
    }
}

/// Replaces a parameter by its value.
fn embed_one(
    ctx: &Context,
    body: &mut Body,
    op: OpId,
    values: &FxHashMap<String, Tensor>,
    folder: &str,
) -> Result<(), Diagnostic> {
    let name = body.view(ctx, op).str("name").unwrap_or_default().to_owned();
    let at = |message: String| refuse(message).label(body.op_span(op), "");
    let value = values
        .get(&name)
        .ok_or_else(|| at(format!("`{folder}` has no variable `{name}`")))?;
    let result = body.result(op, 0);
    let ty = body.value_type(result);
    let (dims, elem) = ctx
        .as_tensor(ty)
        .ok_or_else(|| at(format!("`{name}` is not a tensor")))?;
    if !dims
        .iter()
        .map(|&d| usize::try_from(d).ok())
        .eq(value.shape().iter().map(|&d| Some(d)))
    {
        return Err(at(format!(
            "`{name}` has shape {:?} in `{folder}`, but {dims:?} in the program",
            value.shape()
        )));
    }
    let kind = dtype_of(ctx, ty).ok_or_else(|| at(format!("constants cannot have the element type of `{name}`")))?;
    // The numbers stay bytes.
    let bytes = match kind == value.dtype() {
        true => bytes_of(value),
        false => bytes_of(&value.cast(kind).map_err(at)?),
    };
    let elements = Elements::from_bytes(ctx, ctx.tensor(dims, elem), &bytes);
    let elements = elements.map_err(|_| at(format!("there is no memory for `{name}`")))?;
    let (dims, numbers) = (ctx.ints_attr(dims), ctx.attr(AttrData::Elements(elements)));
    let mut rewriter = Rewriter::new(ctx, body);
    let new = rewriter
        .before(op)
        .op(pd::AssignValue::NAME)
        .attr("shape", dims)
        .attr("dtype", ctx.type_attr(elem))
        .attr("values", numbers)
        .result(ty)
        .value();
    rewriter.take_name(result, new);
    rewriter.replace_op(op, &[new]);
    Ok(())
}

/// Copies the files of a folder.
fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => pending.push((entry.path(), target)),
                false => drop(fs::copy(entry.path(), target)?),
            }
        }
    }
    Ok(())
}
