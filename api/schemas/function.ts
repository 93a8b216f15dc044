// The schema of a Function.

import {objectWith} from './metadata.js';
import {about, observed, oneOf, optional, record, text} from './parts.js';

export const spec = () =>
	record({
		userUploadFilePath: about('The folder with func.py (or func.js), on the host of whoever applies it.', text()),
		runtime: optional(about('python or nodejs; what the files say when left out.', oneOf(['python', 'nodejs']))),
	});

export const status = observed;

export const schema = () => objectWith(about('Where the code is.', spec()));
