/** A state: two rows are added to row 1 of data, and one to the last row. */
export const SUM = [
  "ai.onnx/ScatterND/18",
  "reduction=add",
  "float32:4,3:0*3,1*3,2*3,3*3",
  "int64:3,1:1,-1,1",
  "float32:3,3:10,20,30,40,50,60,70,80,90",
].join(";");
