/** Within this many seconds a budget's requests leave evenly; one for a longer period gathers what is not used of it for the rest of the period. */
export const evenSeconds = 3600;
