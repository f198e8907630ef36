func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = math.exp %x : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = math.fma %x, %y, %x : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = math.powf %x, %y fastmath<nnan> : f32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = math.ctlz %a : i32 return }

// -----

func.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %c: i1, %i: index) { %0 = math.tanh %x {my.note} : f32 return }
