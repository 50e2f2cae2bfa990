import { render } from 'preact';

render(<p>Revisit</p>, document.body);
