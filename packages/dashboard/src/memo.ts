import { Component, type ComponentType, createElement, type FunctionComponent } from 'preact';

/** A component that is drawn anew only when its properties differ in what counts. */
export function memo<Props extends object>(
  inner: FunctionComponent<Props>,
  same: (old: Readonly<Props>, next: Readonly<Props>) => boolean,
): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      return !same(this.props as Props, next);
    }

    override render() {
      return createElement(inner, this.props as Props);
    }
  };
}
