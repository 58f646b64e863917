import { Component, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';

/** Shows the way to the source where the editor within it fails: the page around it stays usable. */
export class Boundary extends Component<
  { readonly children: ReactNode; readonly onCode: () => void },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };
  static getDerivedStateFromError() {
    return { hasFailed: true };
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div className="grid content-start justify-items-start gap-3 p-6">
        <p role="alert">The visual editor failed. What you wrote is still there: go on in Code.</p>
        <Button onClick={this.props.onCode}>Edit in Code</Button>
      </div>
    );
  }
}
