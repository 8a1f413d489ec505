/** Creates components that are redrawn only if their properties changed. */

import { Component, h, type ComponentChild, type FunctionComponent } from "preact";

export function memo<P extends object>(
  inner: FunctionComponent<P>,
  equal: (before: P, after: P) => boolean = shallowEqual,
): new () => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !equal(this.props, next);
    }
    override render(): ComponentChild {
      return h(inner, this.props);
    }
  };
}

function shallowEqual(before: object, after: object): boolean {
  const [one, other] = [Object.entries(before), new Map(Object.entries(after))];
  return one.length === other.size && one.every(([key, value]) => Object.is(value, other.get(key)));
}
