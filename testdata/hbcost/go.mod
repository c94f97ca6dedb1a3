module hbcost

go 1.25
