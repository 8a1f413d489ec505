/** Names the cells of the page. */

/** A tensor on the page: an input's position, or the output. */
export type TensorId = number | "output";

/** A cell. */
export interface Spot {
  readonly tensor: TensorId;
  readonly element: number;
}

/** The id of a cell's element on the page. */
export const cellId = (tensor: TensorId, element: number): string => `cell-${tensor}-${element}`;

/** The id of the list of faults, which describes wrong fields to screen readers. */
export const FAULTS_ID = "faults";
