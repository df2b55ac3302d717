#!/usr/bin/env Rscript
# Mean of the first column of a CSV that is piped in.
values <- read.csv(file("stdin"))
cat(sprintf("%.2f\n", mean(values[[1]])))
