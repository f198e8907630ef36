"u.large"() {a = dense<[-500, -499, -496, -491, -484, -475, -464, -451, -436, -419, -400, -379, -356, -331, -304, -275, -244, -211, -176, -139, -100, -59, -16, 29, 76, 125, 176, 229, 284, 341, 400, 461, 524, 589, 656, 725, 796, 869, 944, 1021, 1100, 1181, 1264, 1349, 1436, 1525, 1616, 1709, 1804, 1901, 2000, 2101, 2204, 2309, 2416, 2525, 2636, 2749, 2864, 2981, 3100, 3221, 3344, 3469, 3596, 3725, 3856, 3989, 4124, 4261, 4400, 4541, 4684, 4829, 4976, 5125, 5276, 5429, 5584, 5741, 5900, 6061, 6224, 6389, 6556, 6725, 6896, 7069, 7244, 7421, 7600, 7781, 7964, 8149, 8336, 8525, 8716, 8909, 9104, 9301, 9500, 9701, 9904, 10109, 10316, 10525, 10736, 10949, 11164, 11381, 11600, 11821, 12044, 12269, 12496, 12725, 12956, 13189, 13424, 13661, 13900, 14141, 14384, 14629, 14876, 15125, 15376, 15629, 15884, 16141, 16400, 16661, 16924, 17189, 17456, 17725, 17996, 18269, 18544, 18821, 19100, 19381, 19664, 19949, 20236, 20525, 20816, 21109, 21404, 21701, 22000, 22301, 22604, 22909, 23216, 23525, 23836, 24149, 24464, 24781, 25100, 25421, 25744, 26069, 26396, 26725, 27056, 27389, 27724, 28061, 28400, 28741, 29084, 29429, 29776, 30125, 30476, 30829, 31184, 31541, 31900, 32261, 32624, 32989, 33356, 33725, 34096, 34469, 34844, 35221, 35600, 35981, 36364, 36749, 37136, 37525, 37916, 38309, 38704, 39101, 39500, 39901, 40304, 40709, 41116, 41525, 41936, 42349, 42764, 43181, 43600, 44021, 44444, 44869, 45296, 45725, 46156, 46589, 47024, 47461, 47900, 48341, 48784, 49229, 49676, 50125, 50576, 51029, 51484, 51941, 52400, 52861, 53324, 53789, 54256, 54725, 55196, 55669, 56144, 56621, 57100, 57581, 58064, 58549, 59036, 59525, 60016, 60509, 61004, 61501, 62000, 62501, 63004, 63509, 64016, 64525, 65036, 65549, 66064, 66581, 67100, 67621, 68144, 68669, 69196, 69725, 70256, 70789, 71324, 71861, 72400, 72941, 73484, 74029, 74576, 75125, 75676, 76229, 76784, 77341, 77900, 78461, 79024, 79589, 80156, 80725, 81296, 81869, 82444, 83021, 83600, 84181, 84764, 85349, 85936, 86525, 87116, 87709, 88304, 88901]> : tensor<300xi32>, b = dense<[false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true, false, true, true]> : tensor<300xi1>, c = dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5, 25.5, 26.5, 27.5, 28.5, 29.5, 30.5, 31.5, 32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5, 39.5, 40.5, 41.5, 42.5, 43.5, 44.5, 45.5, 46.5, 47.5, 48.5, 49.5, 50.5, 51.5, 52.5, 53.5, 54.5, 55.5, 56.5, 57.5, 58.5, 59.5, 60.5, 61.5, 62.5, 63.5, 64.5, 65.5, 66.5, 67.5, 68.5, 69.5, 70.5, 71.5, 72.5, 73.5, 74.5, 75.5, 76.5, 77.5, 78.5, 79.5, 80.5, 81.5, 82.5, 83.5, 84.5, 85.5, 86.5, 87.5, 88.5, 89.5, 90.5, 91.5, 92.5, 93.5, 94.5, 95.5, 96.5, 97.5, 98.5, 99.5, 100.5, 101.5, 102.5, 103.5, 104.5, 105.5, 106.5, 107.5, 108.5, 109.5, 110.5, 111.5, 112.5, 113.5, 114.5, 115.5, 116.5, 117.5, 118.5, 119.5, 120.5, 121.5, 122.5, 123.5, 124.5, 125.5, 126.5, 127.5, 128.5, 129.5, 130.5, 131.5, 132.5, 133.5, 134.5, 135.5, 136.5, 137.5, 138.5, 139.5, 140.5, 141.5, 142.5, 143.5, 144.5, 145.5, 146.5, 147.5, 148.5, 149.5]> : tensor<150xf64>, d = [0 : i8, 1 : i8, 2 : i8, 3 : i8, 4 : i8, 5 : i8, 6 : i8, 7 : i8, 8 : i8, 9 : i8, 10 : i8, 11 : i8, 12 : i8, 13 : i8, 14 : i8, 15 : i8, 16 : i8, 17 : i8, 18 : i8, 19 : i8, 20 : i8, 21 : i8, 22 : i8, 23 : i8, 24 : i8, 25 : i8, 26 : i8, 27 : i8, 28 : i8, 29 : i8, 30 : i8, 31 : i8, 32 : i8, 33 : i8, 34 : i8, 35 : i8, 36 : i8, 37 : i8, 38 : i8, 39 : i8, 40 : i8, 41 : i8, 42 : i8, 43 : i8, 44 : i8, 45 : i8, 46 : i8, 47 : i8, 48 : i8, 49 : i8, 50 : i8, 51 : i8, 52 : i8, 53 : i8, 54 : i8, 55 : i8, 56 : i8, 57 : i8, 58 : i8, 59 : i8, 60 : i8, 61 : i8, 62 : i8, 63 : i8, 64 : i8, 65 : i8, 66 : i8, 67 : i8, 68 : i8, 69 : i8, 70 : i8, 71 : i8, 72 : i8, 73 : i8, 74 : i8, 75 : i8, 76 : i8, 77 : i8, 78 : i8, 79 : i8, 80 : i8, 81 : i8, 82 : i8, 83 : i8, 84 : i8, 85 : i8, 86 : i8, 87 : i8, 88 : i8, 89 : i8, 90 : i8, 91 : i8, 92 : i8, 93 : i8, 94 : i8, 95 : i8, 96 : i8, 97 : i8, 98 : i8, 99 : i8, 0 : i8, 1 : i8, 2 : i8, 3 : i8, 4 : i8, 5 : i8, 6 : i8, 7 : i8, 8 : i8, 9 : i8, 10 : i8, 11 : i8, 12 : i8, 13 : i8, 14 : i8, 15 : i8, 16 : i8, 17 : i8, 18 : i8, 19 : i8, 20 : i8, 21 : i8, 22 : i8, 23 : i8, 24 : i8, 25 : i8, 26 : i8, 27 : i8, 28 : i8, 29 : i8, 30 : i8, 31 : i8, 32 : i8, 33 : i8, 34 : i8, 35 : i8, 36 : i8, 37 : i8, 38 : i8, 39 : i8, 40 : i8, 41 : i8, 42 : i8, 43 : i8, 44 : i8, 45 : i8, 46 : i8, 47 : i8, 48 : i8, 49 : i8, 50 : i8, 51 : i8, 52 : i8, 53 : i8, 54 : i8, 55 : i8, 56 : i8, 57 : i8, 58 : i8, 59 : i8, 60 : i8, 61 : i8, 62 : i8, 63 : i8, 64 : i8, 65 : i8, 66 : i8, 67 : i8, 68 : i8, 69 : i8, 70 : i8, 71 : i8, 72 : i8, 73 : i8, 74 : i8, 75 : i8, 76 : i8, 77 : i8, 78 : i8, 79 : i8, 80 : i8, 81 : i8, 82 : i8, 83 : i8, 84 : i8, 85 : i8, 86 : i8, 87 : i8, 88 : i8, 89 : i8, 90 : i8, 91 : i8, 92 : i8, 93 : i8, 94 : i8, 95 : i8, 96 : i8, 97 : i8, 98 : i8, 99 : i8], e = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199>, f = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", g = {k0 = 0, k1 = 1, k2 = 2, k3 = 3, k4 = 4, k5 = 5, k6 = 6, k7 = 7, k8 = 8, k9 = 9, k10 = 10, k11 = 11, k12 = 12, k13 = 13, k14 = 14, k15 = 15, k16 = 16, k17 = 17, k18 = 18, k19 = 19, k20 = 20, k21 = 21, k22 = 22, k23 = 23, k24 = 24, k25 = 25, k26 = 26, k27 = 27, k28 = 28, k29 = 29, k30 = 30, k31 = 31, k32 = 32, k33 = 33, k34 = 34, k35 = 35, k36 = 36, k37 = 37, k38 = 38, k39 = 39, k40 = 40, k41 = 41, k42 = 42, k43 = 43, k44 = 44, k45 = 45, k46 = 46, k47 = 47, k48 = 48, k49 = 49, k50 = 50, k51 = 51, k52 = 52, k53 = 53, k54 = 54, k55 = 55, k56 = 56, k57 = 57, k58 = 58, k59 = 59, k60 = 60, k61 = 61, k62 = 62, k63 = 63, k64 = 64, k65 = 65, k66 = 66, k67 = 67, k68 = 68, k69 = 69, k70 = 70, k71 = 71, k72 = 72, k73 = 73, k74 = 74, k75 = 75, k76 = 76, k77 = 77, k78 = 78, k79 = 79, k80 = 80, k81 = 81, k82 = 82, k83 = 83, k84 = 84, k85 = 85, k86 = 86, k87 = 87, k88 = 88, k89 = 89, k90 = 90, k91 = 91, k92 = 92, k93 = 93, k94 = 94, k95 = 95, k96 = 96, k97 = 97, k98 = 98, k99 = 99}} : () -> ()
%0:200 = "u.many"() : () -> (i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32)
"u.uses"(%0#199, %0#198, %0#197, %0#196, %0#195, %0#194, %0#193, %0#192, %0#191, %0#190, %0#189, %0#188, %0#187, %0#186, %0#185, %0#184, %0#183, %0#182, %0#181, %0#180, %0#179, %0#178, %0#177, %0#176, %0#175, %0#174, %0#173, %0#172, %0#171, %0#170, %0#169, %0#168, %0#167, %0#166, %0#165, %0#164, %0#163, %0#162, %0#161, %0#160, %0#159, %0#158, %0#157, %0#156, %0#155, %0#154, %0#153, %0#152, %0#151, %0#150, %0#149, %0#148, %0#147, %0#146, %0#145, %0#144, %0#143, %0#142, %0#141, %0#140, %0#139, %0#138, %0#137, %0#136, %0#135, %0#134, %0#133, %0#132, %0#131, %0#130, %0#129, %0#128, %0#127, %0#126, %0#125, %0#124, %0#123, %0#122, %0#121, %0#120, %0#119, %0#118, %0#117, %0#116, %0#115, %0#114, %0#113, %0#112, %0#111, %0#110, %0#109, %0#108, %0#107, %0#106, %0#105, %0#104, %0#103, %0#102, %0#101, %0#100, %0#99, %0#98, %0#97, %0#96, %0#95, %0#94, %0#93, %0#92, %0#91, %0#90, %0#89, %0#88, %0#87, %0#86, %0#85, %0#84, %0#83, %0#82, %0#81, %0#80, %0#79, %0#78, %0#77, %0#76, %0#75, %0#74, %0#73, %0#72, %0#71, %0#70, %0#69, %0#68, %0#67, %0#66, %0#65, %0#64, %0#63, %0#62, %0#61, %0#60, %0#59, %0#58, %0#57, %0#56, %0#55, %0#54, %0#53, %0#52, %0#51, %0#50, %0#49, %0#48, %0#47, %0#46, %0#45, %0#44, %0#43, %0#42, %0#41, %0#40, %0#39, %0#38, %0#37, %0#36, %0#35, %0#34, %0#33, %0#32, %0#31, %0#30, %0#29, %0#28, %0#27, %0#26, %0#25, %0#24, %0#23, %0#22, %0#21, %0#20, %0#19, %0#18, %0#17, %0#16, %0#15, %0#14, %0#13, %0#12, %0#11, %0#10, %0#9, %0#8, %0#7, %0#6, %0#5, %0#4, %0#3, %0#2, %0#1, %0#0) : (f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32, f32, i32) -> ()
"u.deep"() {a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], b = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = {a = unit}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}, t = tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<tuple<i1>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>} : () -> ()
"u.r0"() ({
"u.r1"() ({
"u.r2"() ({
"u.r3"() ({
"u.r4"() ({
"u.r5"() ({
"u.r6"() ({
"u.r7"() ({
"u.r8"() ({
"u.r9"() ({
"u.r10"() ({
"u.r11"() ({
"u.r12"() ({
"u.r13"() ({
"u.r14"() ({
"u.r15"() ({
"u.r16"() ({
"u.r17"() ({
"u.r18"() ({
"u.r19"() ({
"u.r20"() ({
"u.r21"() ({
"u.r22"() ({
"u.r23"() ({
"u.r24"() ({
"u.r25"() ({
"u.r26"() ({
"u.r27"() ({
"u.r28"() ({
"u.r29"() ({
"u.in"() : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()
}) : () -> ()

"u.blocks"() ({
^entry(%a: i32):
  "u.br"(%a)[^b1] : (i32) -> ()
^b0(%a0: i32):
  "u.br"(%a0)[^b3] : (i32) -> ()
^b1(%a1: i32):
  "u.br"(%a1)[^b10] : (i32) -> ()
^b2(%a2: i32):
  "u.br"(%a2)[^b17] : (i32) -> ()
^b3(%a3: i32):
  "u.br"(%a3)[^b24] : (i32) -> ()
^b4(%a4: i32):
  "u.br"(%a4)[^b31] : (i32) -> ()
^b5(%a5: i32):
  "u.br"(%a5)[^b38] : (i32) -> ()
^b6(%a6: i32):
  "u.br"(%a6)[^b45] : (i32) -> ()
^b7(%a7: i32):
  "u.br"(%a7)[^b2] : (i32) -> ()
^b8(%a8: i32):
  "u.br"(%a8)[^b9] : (i32) -> ()
^b9(%a9: i32):
  "u.br"(%a9)[^b16] : (i32) -> ()
^b10(%a10: i32):
  "u.br"(%a10)[^b23] : (i32) -> ()
^b11(%a11: i32):
  "u.br"(%a11)[^b30] : (i32) -> ()
^b12(%a12: i32):
  "u.br"(%a12)[^b37] : (i32) -> ()
^b13(%a13: i32):
  "u.br"(%a13)[^b44] : (i32) -> ()
^b14(%a14: i32):
  "u.br"(%a14)[^b1] : (i32) -> ()
^b15(%a15: i32):
  "u.br"(%a15)[^b8] : (i32) -> ()
^b16(%a16: i32):
  "u.br"(%a16)[^b15] : (i32) -> ()
^b17(%a17: i32):
  "u.br"(%a17)[^b22] : (i32) -> ()
^b18(%a18: i32):
  "u.br"(%a18)[^b29] : (i32) -> ()
^b19(%a19: i32):
  "u.br"(%a19)[^b36] : (i32) -> ()
^b20(%a20: i32):
  "u.br"(%a20)[^b43] : (i32) -> ()
^b21(%a21: i32):
  "u.br"(%a21)[^b0] : (i32) -> ()
^b22(%a22: i32):
  "u.br"(%a22)[^b7] : (i32) -> ()
^b23(%a23: i32):
  "u.br"(%a23)[^b14] : (i32) -> ()
^b24(%a24: i32):
  "u.br"(%a24)[^b21] : (i32) -> ()
^b25(%a25: i32):
  "u.br"(%a25)[^b28] : (i32) -> ()
^b26(%a26: i32):
  "u.br"(%a26)[^b35] : (i32) -> ()
^b27(%a27: i32):
  "u.br"(%a27)[^b42] : (i32) -> ()
^b28(%a28: i32):
  "u.br"(%a28)[^b49] : (i32) -> ()
^b29(%a29: i32):
  "u.br"(%a29)[^b6] : (i32) -> ()
^b30(%a30: i32):
  "u.br"(%a30)[^b13] : (i32) -> ()
^b31(%a31: i32):
  "u.br"(%a31)[^b20] : (i32) -> ()
^b32(%a32: i32):
  "u.br"(%a32)[^b27] : (i32) -> ()
^b33(%a33: i32):
  "u.br"(%a33)[^b34] : (i32) -> ()
^b34(%a34: i32):
  "u.br"(%a34)[^b41] : (i32) -> ()
^b35(%a35: i32):
  "u.br"(%a35)[^b48] : (i32) -> ()
^b36(%a36: i32):
  "u.br"(%a36)[^b5] : (i32) -> ()
^b37(%a37: i32):
  "u.br"(%a37)[^b12] : (i32) -> ()
^b38(%a38: i32):
  "u.br"(%a38)[^b19] : (i32) -> ()
^b39(%a39: i32):
  "u.br"(%a39)[^b26] : (i32) -> ()
^b40(%a40: i32):
  "u.br"(%a40)[^b33] : (i32) -> ()
^b41(%a41: i32):
  "u.br"(%a41)[^b40] : (i32) -> ()
^b42(%a42: i32):
  "u.br"(%a42)[^b47] : (i32) -> ()
^b43(%a43: i32):
  "u.br"(%a43)[^b4] : (i32) -> ()
^b44(%a44: i32):
  "u.br"(%a44)[^b11] : (i32) -> ()
^b45(%a45: i32):
  "u.br"(%a45)[^b18] : (i32) -> ()
^b46(%a46: i32):
  "u.br"(%a46)[^b25] : (i32) -> ()
^b47(%a47: i32):
  "u.br"(%a47)[^b32] : (i32) -> ()
^b48(%a48: i32):
  "u.br"(%a48)[^b39] : (i32) -> ()
^b49(%a49: i32):
  "u.br"(%a49)[^b46] : (i32) -> ()
}) : () -> ()
