func.func @f(%x: f32, %z: complex<f32>) { %0 = complex.create %x, %x : complex<f32> return }

// -----

func.func @f(%x: f32, %z: complex<f32>) { %0 = complex.re %z : complex<f32> return }

// -----

func.func @f(%x: f32, %z: complex<f32>) { %0 = complex.add %z, %z : complex<f32> return }

// -----

func.func @f(%x: f32, %z: complex<f32>) { %0 = complex.abs %z : complex<f32> return }

// -----

func.func @f(%x: f32, %z: complex<f32>) { %0 = complex.eq %z, %z : complex<f32> return }
