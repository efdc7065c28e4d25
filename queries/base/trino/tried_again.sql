-- about Each call is grouped: to look for those with several attempts would read the run once more.
TRUE
