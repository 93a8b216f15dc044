// The schema of a PriorityClass.

import type {Static} from 'typebox';
import type {PriorityClassContent} from '../shapes/priority-class.js';
import {objectOf} from './metadata.js';
import {about, flag, maxInt32, oneOf, optional, record, text, whole, type Same} from './parts.js';

const fields = () => ({
	value: about('How important its pods are; higher ones go first.', whole(-maxInt32, maxInt32)),
	globalDefault: optional(about('Whether pods that name no class belong to it.', flag())),
	preemptionPolicy: optional(about('Whether its pods may take the place of lower ones.', oneOf(['PreemptLowerPriority', 'Never']))),
	description: optional(about('What it is for.', text())),
});

export const priorityClassContent = () => record(fields());

export const priorityClassStatus = () => record({});

export const priorityClass = () => objectOf(fields());

export const priorityClassSaysTheSame: Same<Static<ReturnType<typeof priorityClassContent>>, PriorityClassContent> = true;
