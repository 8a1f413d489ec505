/**
 * A lesson consists of four sentences about a call, each with its part of the picture. The sentences explain addresses,
 * moved slices, unchanged slices, and shared targets.
 */

import { touchedBy } from "../cells/touched.ts";
import type { Picture } from "../cells/view.ts";
import { agreed, sceneAt, unnamed, type Scene } from "./lesson-scene.ts";
import { ADDRESSES, agreementText, moveText, restText, twins } from "./lesson-texts.ts";
import { arrow } from "./vocabulary.ts";
import type { Arrow, Framed, LessonStep } from "../cells/session.ts";
import type { TensorId } from "../values/spot.ts";

/** Returns the lesson steps for a call; an empty list for a call without updates or reads. */
export function lessonOf(picture: Picture): readonly LessonStep[] {
  const scene = sceneAt(picture);
  if (scene === null) return [];
  const { words, hero, addressing } = scene;
  const { links } = picture;
  const isScatter = scene.story.kind === "scatter";
  const moved = isScatter ? ["updates", "output"] : ["data", "output"];
  const equal = addressing === "batch" ? twins(scene) : null;
  const last =
    equal === null
      ? (agreed(scene)?.orders ?? [])
      : equal.map((tuple) => links.tupleOf.indexOf(tuple));
  const arrows = words.stepOf(hero.order).arrows;
  return [
    stepOf(ADDRESSES[addressing](scene), {
      orders: [hero.order],
      arrows,
      frames: framesOf(scene, hero.order, ["indices", "data"]),
      step: 0,
    }),
    stepOf(moveText(scene), {
      orders: [hero.order],
      arrows,
      frames: framesOf(scene, hero.order, moved),
      step: hero.order + 1,
      isMoving: true,
    }),
    stepOf(restText(scene), { orders: [], step: links.count, ...restOf(scene) }),
    stepOf(agreementText(scene), {
      orders: last,
      arrows: last.slice(-1).flatMap((order) => words.stepOf(order).arrows),
      frames: last.flatMap((order) => framesOf(scene, order, ["indices", ...moved])),
      step: links.count,
      isMoving: isScatter && last.at(-1) === links.count - 1,
    }),
  ];
}

interface Shown extends Pick<LessonStep, "frames" | "step"> {
  readonly orders: readonly number[];
  readonly arrows: readonly Arrow[];
  readonly isMoving?: boolean;
}

const stepOf = (
  sentence: string,
  { orders, arrows, frames, step, isMoving = false }: Shown,
): LessonStep => ({
  sentence,
  description: { title: sentence.replaceAll("`", ""), lines: [], arrows, orders },
  frames,
  step,
  isMoving,
});

function framesOf(
  { words, picture }: Scene,
  order: number,
  roles: readonly string[],
): readonly Framed[] {
  return roles.flatMap((role) => {
    const tensor = role === "output" ? role : words.positionOf(role);
    const shape = tensor === "output" ? picture.output.shape : words.shapeOf(tensor);
    const range = tensor === -1 ? null : touchedBy(picture, order, role, shape);
    return range === null ? [] : [{ tensor, ...range }];
  });
}

/** Returns the slices that no index names, in data and in a scatter's output. */
function restOf(scene: Scene): Pick<Shown, "frames" | "arrows"> {
  const { words, story, picture } = scene;
  const { slice } = picture.links;
  const data = words.positionOf("data");
  const tensors: readonly TensorId[] = story.kind === "scatter" ? [data, "output"] : [data];
  const { slices } = unnamed(scene);
  const frames = slices.flatMap((number) =>
    tensors.map((tensor) => ({ tensor, begin: number * slice, end: (number + 1) * slice })),
  );
  const first = (slices[0] ?? 0) * slice;
  const [from, to] = [tensors[0], tensors[tensors.length - 1]];
  const arrows =
    slices.length === 0
      ? []
      : [arrow({ tensor: from, element: first }, { tensor: to, element: first }, null)];
  return { frames, arrows };
}
