// Where in a container's output an answer of `GET .../pods/P/log` begins, so that a reader that was cut off goes on there.

/** Headers of the answer: which attempt it is of, counted from 0, and at which of its bytes it begins. */
export const attemptHeader = 'troupe-log-attempt';
export const offsetHeader = 'troupe-log-offset';

/** What a Status says was not found when an attempt is not kept any more. */
export const attemptsResource = 'attempts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z /;

/** A line of an answer with `timestamps`, as the container wrote it. */
export const withoutTime = (line: string): string => line.replace(time, '');
