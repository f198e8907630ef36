//! Operations that update parameters. Each becomes what it computes: here a value is not changed, the name stands for
//! the new one from then on.

use pir_ir::{Attr, Diagnostic, Type};

use super::translate::Translator;
use super::{Attribute, Op, error};
use crate::paddle::build::SourceId;

type Done = Result<(), Diagnostic>;

impl<'t> Translator<'t, '_, '_> {
    /// Translates an operation that updates parameters; whether it was one.
    pub(super) fn update(&mut self, op: &'t Op) -> Result<bool, Diagnostic> {
        match op.kind.as_str() {
            "momentum" => self.momentum(op)?,
            "adam" | "adamw" => self.adam(op)?,
            "adagrad" => self.adagrad(op)?,
            "rmsprop" => self.rmsprop(op)?,
            "lamb" => self.lamb(op)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn input_value(&mut self, op: &'t Op, parameter: &str) -> Result<SourceId, Diagnostic> {
        let name = op.input(parameter);
        let name = name.ok_or_else(|| error(op.span, format!("`{}` has no operand `{parameter}`", op.kind)))?;
        self.value(name, op.span)
    }

    fn number(op: &Op, name: &str, default: f64) -> f64 {
        match op.attribute(name) {
            Some(Attribute::Float(value)) => *value,
            Some(Attribute::Int(value)) => *value as f64,
            _ => default,
        }
    }

    /// An operation on tensors, with the type that it infers.
    fn compute(&mut self, op: &Op, name: &str, operands: &[SourceId], attrs: &[(&str, Attr)]) -> SourceId {
        let ctx = self.builder.ctx;
        let ty = operands.first().and_then(|&id| self.builder.value_type(id));
        let attrs = attrs.iter().map(|&(name, value)| (ctx.sym(name), value)).collect();
        let types = [ty.unwrap_or(Type::NONE)];
        self.emit(name, operands, &types, attrs, op.span)[0]
    }

    /// `factor * x + bias`.
    fn scaled(&mut self, op: &Op, x: SourceId, factor: f64, bias: f64) -> SourceId {
        let ctx = self.builder.ctx;
        let attrs = [("scale", ctx.float_attr(factor)), ("bias", ctx.float_attr(bias))];
        self.compute(op, "pd.scale", &[x], &attrs)
    }

    fn binary(&mut self, op: &Op, name: &str, x: SourceId, y: SourceId) -> SourceId {
        self.compute(op, name, &[x, y], &[])
    }

    /// `old * (factor * a + (1 - factor) * b)` without `old`: a running mean.
    fn mean_of(&mut self, op: &Op, a: SourceId, b: SourceId, factor: f64) -> SourceId {
        let (a, b) = (self.scaled(op, a, factor, 0.0), self.scaled(op, b, 1.0 - factor, 0.0));
        self.binary(op, "pd.add", a, b)
    }

    fn bind_output(&mut self, op: &'t Op, parameter: &str, id: SourceId) {
        if let Some(name) = op.outputs(parameter).first() {
            self.bind(name, id);
        }
    }

    /// That of what an operation could do besides, it does nothing.
    fn refuse(op: &Op, inputs: &[&str], flags: &[&str]) -> Done {
        let given = inputs.iter().find(|name| !op.inputs(name).is_empty());
        let set = flags.iter().find(|name| op.int(name) == Some(1));
        match given.or(set) {
            None => Ok(()),
            Some(name) => Err(error(op.span, format!("`{name}` of `{}` is not read", op.kind))),
        }
    }

    fn momentum(&mut self, op: &'t Op) -> Done {
        Self::refuse(op, &["MasterParam"], &["multi_precision"])?;
        let [param, grad, velocity, rate] = self.inputs_of(op, ["Param", "Grad", "Velocity", "LearningRate"])?;
        let mu = Self::number(op, "mu", 0.9);
        let grad = match op.attribute("regularization_method") {
            Some(Attribute::Str(method)) if method == "l2_decay" => {
                let decay = self.scaled(op, param, Self::number(op, "regularization_coeff", 0.0), 0.0);
                self.binary(op, "pd.add", grad, decay)
            }
            _ => grad,
        };
        let grad = self.scaled(op, grad, Self::number(op, "rescale_grad", 1.0), 0.0);
        let kept = self.scaled(op, velocity, mu, 0.0);
        let velocity = self.binary(op, "pd.add", kept, grad);
        let step = match op.int("use_nesterov") {
            Some(1) => {
                let ahead = self.scaled(op, velocity, mu, 0.0);
                self.binary(op, "pd.add", grad, ahead)
            }
            _ => velocity,
        };
        let step = self.binary(op, "pd.multiply", step, rate);
        let param = self.binary(op, "pd.subtract", param, step);
        self.bind_output(op, "ParamOut", param);
        self.bind_output(op, "VelocityOut", velocity);
        Ok(())
    }

    fn inputs_of<const N: usize>(&mut self, op: &'t Op, names: [&str; N]) -> Result<[SourceId; N], Diagnostic> {
        let mut ids = [0; N];
        for (id, name) in ids.iter_mut().zip(names) {
            *id = self.input_value(op, name)?;
        }
        Ok(ids)
    }

    /// The running means of a gradient and of its square, without bias: those of `adam` and `lamb`.
    fn moments(&mut self, op: &'t Op) -> Result<[SourceId; 2], Diagnostic> {
        let [grad, first, second] = self.inputs_of(op, ["Grad", "Moment1", "Moment2"])?;
        let powers = self.inputs_of(op, ["Beta1Pow", "Beta2Pow"])?;
        let betas = [Self::number(op, "beta1", 0.9), Self::number(op, "beta2", 0.999)];
        let square = self.binary(op, "pd.multiply", grad, grad);
        let mut means = [0; 2];
        let names = [("Moment1Out", "Beta1PowOut"), ("Moment2Out", "Beta2PowOut")];
        for (at, (old, new)) in [(first, grad), (second, square)].into_iter().enumerate() {
            let mean = self.mean_of(op, old, new, betas[at]);
            self.bind_output(op, names[at].0, mean);
            let rest = self.scaled(op, powers[at], -1.0, 1.0);
            means[at] = self.binary(op, "pd.divide", mean, rest);
            let power = self.scaled(op, powers[at], betas[at], 0.0);
            self.bind_output(op, names[at].1, power);
        }
        Ok(means)
    }

    /// `first / (sqrt(second) + epsilon)`.
    fn direction(&mut self, op: &Op, [first, second]: [SourceId; 2], epsilon: f64) -> SourceId {
        let root = self.compute(op, "pd.sqrt", &[second], &[]);
        let root = self.scaled(op, root, 1.0, epsilon);
        self.binary(op, "pd.divide", first, root)
    }

    fn adam(&mut self, op: &'t Op) -> Done {
        let tensors = [
            "MasterParam",
            "SkipUpdate",
            "Beta1Tensor",
            "Beta2Tensor",
            "EpsilonTensor",
        ];
        Self::refuse(op, &tensors, &["multi_precision", "lazy_mode", "amsgrad"])?;
        // PaddlePaddle's devices do not agree about it: on a CPU it scales the decay alone, on others the step too.
        if Self::number(op, "lr_ratio", 1.0) != 1.0 {
            return Err(error(op.span, format!("`lr_ratio` of `{}` is not read", op.kind)));
        }
        let [mut param, rate] = self.inputs_of(op, ["Param", "LearningRate"])?;
        if op.kind == "adamw" && op.int("with_decay") != Some(0) {
            let kept = self.scaled(op, rate, -Self::number(op, "coeff", 0.01), 1.0);
            param = self.binary(op, "pd.multiply", param, kept);
        }
        let moments = self.moments(op)?;
        let direction = self.direction(op, moments, Self::number(op, "epsilon", 1e-8));
        let step = self.binary(op, "pd.multiply", direction, rate);
        let param = self.binary(op, "pd.subtract", param, step);
        self.bind_output(op, "ParamOut", param);
        Ok(())
    }

    fn adagrad(&mut self, op: &'t Op) -> Done {
        Self::refuse(op, &["MasterParam"], &["multi_precision"])?;
        let [param, grad, moment, rate] = self.inputs_of(op, ["Param", "Grad", "Moment", "LearningRate"])?;
        let square = self.binary(op, "pd.multiply", grad, grad);
        let moment = self.binary(op, "pd.add", moment, square);
        let direction = self.direction(op, [grad, moment], Self::number(op, "epsilon", 1e-6));
        let step = self.binary(op, "pd.multiply", direction, rate);
        let param = self.binary(op, "pd.subtract", param, step);
        self.bind_output(op, "ParamOut", param);
        self.bind_output(op, "MomentOut", moment);
        Ok(())
    }

    fn rmsprop(&mut self, op: &'t Op) -> Done {
        Self::refuse(op, &["MasterParam"], &["multi_precision"])?;
        let names = ["Param", "Grad", "MeanSquare", "Moment", "LearningRate"];
        let [param, grad, mean, moment, rate] = self.inputs_of(op, names)?;
        let (rho, epsilon) = (Self::number(op, "decay", 0.9), Self::number(op, "epsilon", 1e-10));
        let square = self.binary(op, "pd.multiply", grad, grad);
        let mean = self.mean_of(op, mean, square, rho);
        let mut spread = mean;
        if op.int("centered") == Some(1) {
            let average = self.input_value(op, "MeanGrad")?;
            let average = self.mean_of(op, average, grad, rho);
            let square = self.binary(op, "pd.multiply", average, average);
            spread = self.binary(op, "pd.subtract", mean, square);
            self.bind_output(op, "MeanGradOut", average);
        }
        let spread = self.scaled(op, spread, 1.0, epsilon);
        let root = self.compute(op, "pd.sqrt", &[spread], &[]);
        let step = self.binary(op, "pd.multiply", grad, rate);
        let step = self.binary(op, "pd.divide", step, root);
        let kept = self.scaled(op, moment, Self::number(op, "momentum", 0.0), 0.0);
        let moment = self.binary(op, "pd.add", kept, step);
        let param = self.binary(op, "pd.subtract", param, moment);
        for (name, id) in [("ParamOut", param), ("MeanSquareOut", mean), ("MomentOut", moment)] {
            self.bind_output(op, name, id);
        }
        Ok(())
    }

    fn lamb(&mut self, op: &'t Op) -> Done {
        Self::refuse(op, &["MasterParam", "SkipUpdate"], &["multi_precision", "always_adapt"])?;
        let [param, rate] = self.inputs_of(op, ["Param", "LearningRate"])?;
        let moments = self.moments(op)?;
        let direction = self.direction(op, moments, Self::number(op, "epsilon", 1e-6));
        let decay = Self::number(op, "weight_decay", 0.01);
        let decayed = self.scaled(op, param, decay, 0.0);
        let direction = self.binary(op, "pd.add", direction, decayed);
        // The step is as long as the parameter, times the learning rate, unless either is zero.
        let mut ratio = None;
        if decay > 0.0 {
            let norms = [param, direction].map(|x| {
                let square = self.binary(op, "pd.multiply", x, x);
                let sum = self.compute(op, "pd.sum", &[square], &[]);
                self.compute(op, "pd.sqrt", &[sum], &[])
            });
            let quotient = self.binary(op, "pd.divide", norms[0], norms[1]);
            let product = self.binary(op, "pd.multiply", norms[0], norms[1]);
            let ctx = self.builder.ctx;
            let zero = self.compute(op, "pd.full_like", &[product], &[("value", ctx.float_attr(0.0))]);
            let one = self.compute(op, "pd.full_like", &[product], &[("value", ctx.float_attr(1.0))]);
            let positive = self.binary(op, "pd.greater_than", product, zero);
            ratio = Some(self.compute(op, "pd.where", &[positive, quotient, one], &[]));
        }
        let mut step = self.binary(op, "pd.multiply", direction, rate);
        if let Some(ratio) = ratio {
            step = self.binary(op, "pd.multiply", step, ratio);
        }
        let param = self.binary(op, "pd.subtract", param, step);
        self.bind_output(op, "ParamOut", param);
        Ok(())
    }
}
