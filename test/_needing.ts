// Tests that not every host or user can run: where they are skipped, their title says why.

import test, {type ExecutionContext} from 'ava';

type Declare = (title: string, run: (t: ExecutionContext) => unknown) => void;

/** Declares a test that is skipped unless `has`; `why` says what is missing. */
export const needing =
	(has: boolean, why: string, declare: Declare & {readonly skip: Declare} = test): Declare =>
	(title, run) =>
		has ? declare(title, run) : declare.skip(`${title} (${why})`, run);

export const isRoot = process.getuid?.() === 0;

export const asRoot = needing(isRoot, 'needs root');

export const asOther = needing(!isRoot, 'needs a user that is not root');
