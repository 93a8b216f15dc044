// docs/errors.md says what the code says.

import {readFileSync} from 'node:fs';
import test from 'ava';
import {errorsFile, errorsPage} from './errors-page.js';

test('docs/errors.md is what the table of errors makes (node build/test/docs/errors-page.js writes it)', t => {
	t.is(readFileSync(errorsFile, 'utf8'), errorsPage());
});
