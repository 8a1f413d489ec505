/**
 * A lesson: four sentences about the call that is shown, and what the picture shows with each: an index is an address, the
 * slice goes there, the rest is copied, and several indices may name one place.
 */

import type { Picture } from "../cells/view.ts";
import { agreed, sceneAt, unnamed, type Scene } from "./lesson-scene.ts";
import { ADDRESSES, agreementText, moveText, restText, twins } from "./lesson-texts.ts";
import { arrow, type Arrow, type Description, type Spot } from "./vocabulary.ts";

export interface LessonStep {
  readonly sentence: string;
  /** Cells that are framed, and updates whose lines stay; its title is the sentence. */
  readonly description: Description;
  /** How many steps of the player are carried out. */
  readonly step: number;
  /** Whether the last of them moves while the sentence is read. */
  readonly isMoving: boolean;
}

/** Cells of a slice that are framed. */
const MOST_CELLS = 64;

/** The steps of a lesson about a call; none for a call without updates or reads. */
export function lessonOf(picture: Picture): readonly LessonStep[] {
  const scene = sceneAt(picture);
  if (scene === null) return [];
  const {
    story,
    hero,
    addressing,
    picture: { links },
  } = scene;
  const isScatter = story.kind === "scatter";
  const { slices } = unnamed(scene);
  const found = agreed(scene);
  const equal = addressing === "batch" ? twins(scene) : null;
  const last = equal === null ? (found?.orders ?? []) : ordersOf(scene, equal);
  const agreeing = last.flatMap((order) => [...indexArrows(scene, order), ...moves(scene, order)]);
  return [
    stepOf(ADDRESSES[addressing](scene), [hero.order], 0, [
      ...indexArrows(scene, hero.order),
      ...frames(scene, links.slice * sliceAt(scene, hero.order)),
    ]),
    stepOf(moveText(scene), [hero.order], hero.order + 1, moves(scene, hero.order), true),
    stepOf(
      restText(scene),
      [],
      links.count,
      slices.flatMap((slice) => frames(scene, slice * links.slice)).slice(0, MOST_CELLS * 2),
    ),
    stepOf(
      agreementText(scene),
      last,
      links.count,
      agreeing,
      isScatter && last.at(-1) === links.count - 1,
    ),
  ];
}

const stepOf = (
  sentence: string,
  orders: readonly number[],
  step: number,
  arrows: readonly Arrow[],
  isMoving = false,
): LessonStep => ({
  sentence,
  description: { title: sentence.replaceAll("`", ""), lines: [], arrows, orders },
  step,
  isMoving,
});

/** The slice of data that an update, or a read, names. */
const sliceAt = ({ picture: { targets } }: Scene, order: number): number => targets.sliceOf[order];

const ordersOf = ({ picture: { links } }: Scene, tuples: readonly number[]): readonly number[] =>
  tuples.map((tuple) => links.tupleOf.indexOf(tuple));

/** From each element of the tuple of an update to the slice that it names. */
function indexArrows(scene: Scene, order: number): readonly Arrow[] {
  const { words, picture } = scene;
  const { links } = picture;
  const tensor = words.positionOf("indices");
  const tuple = links.tupleOf[order];
  const to: Spot = {
    tensor: words.positionOf("data"),
    element: sliceAt(scene, order) * links.slice,
  };
  const arrows: Arrow[] = [];
  links.indexed.forEach((one, element) => {
    if (one === tuple && arrows.length < MOST_CELLS)
      arrows.push(arrow({ tensor, element }, to, tuple, true));
  });
  return arrows;
}

/** A slice of data, and of the output of a scatter, which has the same places. */
function frames({ words, story, picture }: Scene, begin: number): readonly Arrow[] {
  const data = words.positionOf("data");
  const to = story.kind === "scatter" ? "output" : data;
  return cells(picture.links.slice).map((i) =>
    arrow({ tensor: data, element: begin + i }, { tensor: to, element: begin + i }, null),
  );
}

/** From each element that an update, or a read, carries to its place in the output. */
function moves(scene: Scene, order: number): readonly Arrow[] {
  const { words, story, picture } = scene;
  const { links } = picture;
  const tuple = links.tupleOf[order];
  const carried = links.carried.indexOf(order);
  const target = sliceAt(scene, order) * links.slice;
  return cells(links.slice).map((i) =>
    story.kind === "scatter"
      ? arrow(
          { tensor: words.positionOf("updates"), element: carried + i },
          { tensor: "output", element: target + i },
          tuple,
        )
      : arrow(
          { tensor: words.positionOf("data"), element: target + i },
          { tensor: "output", element: carried + i },
          tuple,
        ),
  );
}

const cells = (slice: number): readonly number[] =>
  Array.from({ length: Math.min(slice, MOST_CELLS) }, (_, i) => i);
